/**
 * JSON viewer. Deep or long parts are collapsed, so a large value costs no more than its visible part. Values
 * redacted by the server are marked as hidden.
 */
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import { CopyButton } from '../text/copy.tsx'
import { bytes, number } from '../text/format.ts'
import { openDepth, PART } from './json-depth.ts'

const LONGEST_TEXT = 2_000
/** The server's placeholder for a secret. */
const HIDDEN = '(hidden)'

export function Json({ value, name }: { readonly value: unknown; readonly name: string }) {
  // Computed once, so that a refresh does not collapse what the user has expanded.
  const [open] = useState(() => openDepth(value))
  return (
    <div className="relative overflow-x-auto rounded-lg bg-sunk p-3 font-mono text-xs leading-5">
      <div className="absolute top-1 right-1 flex gap-1">
        <CopyJson value={value} name={name} />
      </div>
      <Value value={value} left={open} />
    </div>
  )
}

/** The text is built only on demand. */
function CopyJson({ value, name }: { readonly value: unknown; readonly name: string }) {
  const [text, setText] = useState<string | null>(null)
  if (text === null)
    return (
      <button
        type="button"
        className="rounded px-2 py-1 font-sans text-soft hover:bg-card hover:text-text"
        onClick={() => setText(JSON.stringify(value, null, 2))}
      >
        View raw
      </button>
    )
  return (
    <span className="inline-flex items-center gap-1 rounded bg-card font-sans">
      <CopyButton text={text} what={`the ${name}`} />
      <Button look="quiet" icon={Download} onClick={() => save(text, `${name}.json`)}>
        {bytes(text.length)}
      </Button>
    </span>
  )
}

export function save(text: string, file: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.download = file
  link.click()
  URL.revokeObjectURL(link.href)
}

/** `left`: how many more levels are expanded. */
function Value({ value, left }: { readonly value: unknown; readonly left: number }): ReactNode {
  if (value === HIDDEN)
    return <span className="rounded bg-line px-1 text-soft italic">hidden from viewers</span>
  if (typeof value === 'string') return <Text text={value} />
  if (typeof value === 'number') return <span className="text-running">{String(value)}</span>
  if (typeof value !== 'object' || value === null)
    return <span className="text-scheduled">{String(value)}</span>
  return <Many value={value} left={left} />
}

function Text({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isCut = text.length > LONGEST_TEXT && !isWhole
  return (
    <span className="break-words whitespace-pre-wrap text-done">
      {JSON.stringify(isCut ? text.slice(0, LONGEST_TEXT) : text)}
      {isCut && (
        <button type="button" className="ml-1 font-sans text-accent underline" onClick={() => setWhole(true)}>
          {number(text.length - LONGEST_TEXT)} more characters
        </button>
      )}
    </span>
  )
}

function Many({ value, left }: { readonly value: object; readonly left: number }) {
  const isList = Array.isArray(value)
  const keys = isList ? null : Object.keys(value)
  const length = isList ? value.length : (keys?.length ?? 0)
  const [isOpen, setOpen] = useState(left > 0)
  const [shown, setShown] = useState(PART)
  const [open, shut] = isList ? ['[', ']'] : ['{', '}']
  if (length === 0) return <span>{open + shut}</span>
  if (!isOpen)
    return (
      <button type="button" className="text-soft hover:text-text" onClick={() => setOpen(true)}>
        {`${open} ${number(length)} ${isList ? 'items' : 'fields'} ${shut}`}
      </button>
    )
  const parts = isList
    ? value.slice(0, shown).map((part: unknown, at) => [String(at), part] as const)
    : (keys ?? []).slice(0, shown).map((key) => [key, (value as Record<string, unknown>)[key]] as const)
  return (
    <span>
      <button
        type="button"
        aria-label="Collapse"
        className="text-soft hover:text-text"
        onClick={() => setOpen(false)}
      >
        {open}
      </button>
      <span className="block pl-4">
        {parts.map(([key, part]) => (
          <span key={key} className="block">
            {!isList && <span className="text-text">{JSON.stringify(key)}: </span>}
            <Value value={part} left={left - 1} />
          </span>
        ))}
        {length > shown && (
          <button
            type="button"
            className="font-sans text-accent underline"
            onClick={() => setShown(shown + 10 * PART)}
          >
            {`${number(length - shown)} more`}
          </button>
        )}
      </span>
      {shut}
    </span>
  )
}
