/** Line diff with signs, not by color alone. Long identical parts are folded. */
import { useState } from 'react'
import { classes } from '../../../kit/classes.ts'
import { plural } from '../../../kit/text/format.ts'
import { foldDiff } from './fold-diff.ts'
import { type DiffLine, lineDiff } from './line-diff.ts'

interface Props {
  readonly title: string
  readonly none: string
  /** The names of the two sides, for lines that only one of them has. */
  readonly names: readonly [first: string, second: string]
  /** The two texts. */
  readonly sides: readonly (readonly string[])[]
}

const LOOKS = { ' ': '', '-': 'bg-dead-soft', '+': 'bg-accent-soft' } as const

export function Diff({ title, none, names, sides: [before = [], after = []] }: Props) {
  const [isWhole, setWhole] = useState(false)
  const lines = lineDiff(before, after)
  const isSame = lines.every(({ sign }) => sign === ' ')
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold">
        {title}
        {lines.length > 0 && (
          <span className="font-normal text-soft">
            {isSame ? ' (identical)' : ` (− only in ${names[0]}, + only in ${names[1]})`}
          </span>
        )}
      </h3>
      {lines.length === 0 ? (
        <p className="text-soft">{none}</p>
      ) : (
        <ol
          aria-label={`${title} diff`}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable, so focusable
          tabIndex={0}
          className="max-h-96 overflow-auto rounded-lg bg-sunk py-2 font-mono text-xs leading-5"
        >
          {foldDiff(lines, isWhole || isSame).map((part, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines repeat
            <li key={at} className={classes('flex gap-2 px-3', 'sign' in part && LOOKS[part.sign])}>
              {'sign' in part ? (
                <Line line={part} names={names} />
              ) : (
                <button
                  type="button"
                  className="font-sans text-accent underline"
                  onClick={() => setWhole(true)}
                >
                  {plural(part.folded, 'identical line')}
                </button>
              )}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function Line({ line: { sign, text }, names }: { readonly line: DiffLine } & Pick<Props, 'names'>) {
  const read = { ' ': 'both', '-': `${names[0]} only`, '+': `${names[1]} only` }
  return (
    <>
      <span className="w-2 shrink-0">
        <span aria-hidden>{sign}</span>
        <span className="sr-only">{read[sign]}: </span>
      </span>
      <span className="min-w-0 break-words whitespace-pre-wrap">{text}</span>
    </>
  )
}
