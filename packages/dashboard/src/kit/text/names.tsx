/** A list of names: the first few, and the rest on demand. */
import { useState } from 'react'
import { TextLink } from '../button.tsx'

interface Props {
  readonly names: readonly string[]
  /** Text for an empty list. */
  readonly otherwise: string
  readonly most?: number
  /** The link of each name. */
  readonly to?: (name: string) => string
  /** The label of each name; defaults to the name. */
  readonly text?: (name: string) => string
}

/** A link must be 24 pixels high to be hit by a finger. */
const CHIP = 'max-w-64 truncate rounded bg-sunk px-1.5 font-mono text-xs leading-6'

export function Names({ names, otherwise, most = 6, to, text = (name) => name }: Props) {
  const [isWhole, setWhole] = useState(false)
  if (names.length === 0) return <span className="text-soft">{otherwise}</span>
  const seen = isWhole ? names : names.slice(0, most)
  return (
    <span className="flex min-w-0 flex-wrap gap-1">
      {seen.map((name) =>
        to === undefined ? (
          <span key={name} title={name} className={CHIP}>
            {text(name)}
          </span>
        ) : (
          <TextLink key={name} to={to(name)} className={CHIP}>
            <span title={name}>{text(name)}</span>
          </TextLink>
        ),
      )}
      {names.length > seen.length && (
        <button
          type="button"
          className="min-h-6 px-1 text-xs text-accent hover:underline"
          onClick={() => setWhole(true)}
        >
          {names.length - seen.length} more
        </button>
      )}
    </span>
  )
}
