/** JSON editor with line numbers, Tab indentation and error messages. */
import { WandSparkles } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../button.tsx'
import { TextArea } from '../forms/field.tsx'
import { indent } from './indent.ts'
import { type JsonRead, readJson } from './json-problem.ts'

interface Props {
  readonly label: string
  readonly text: string
  readonly change: (text: string) => void
  /** Actions next to the label. */
  readonly tools?: ReactNode
  /** Problems other than invalid JSON. */
  readonly problems?: readonly string[]
}

/** The parsed text; parsed once per change. */
export function useJson(text: string): JsonRead {
  return useMemo(() => readJson(text), [text])
}

const LEAST_LINES = 6
const MOST_LINES = 18
const MOST_PROBLEMS = 8

export function JsonEditor({ label, text, change, tools, problems = [] }: Props) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLDivElement>(null)
  const caret = useRef<{ start: number; end: number } | null>(null)
  // Escape returns Tab to the browser, so that keyboard users can leave the editor.
  const [capturesTab, setCapturesTab] = useState(true)
  const read = useJson(text)
  const wrongLine = 'problem' in read ? read.problem.line : null
  const lines = text.split('\n').length

  // Runs after the new text has been rendered.
  useLayoutEffect(() => {
    if (caret.current === null || area.current === null) return
    area.current.setSelectionRange(caret.current.start, caret.current.end)
    caret.current = null
  })

  function pressed(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (event.key === 'Escape' && capturesTab) {
      // Keep the surrounding dialog open.
      event.preventDefault()
      event.stopPropagation()
      setCapturesTab(false)
    } else if (event.key === 'Tab' && capturesTab) {
      event.preventDefault()
      const { selectionStart: start, selectionEnd: end } = event.currentTarget
      const moved = indent({ text, start, end }, event.shiftKey)
      caret.current = moved
      change(moved.text)
    }
  }

  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex flex-wrap items-center gap-1">
        <label htmlFor={id} className="mr-auto text-xs font-medium">
          {label}
        </label>
        {tools}
        <Button
          look="quiet"
          icon={WandSparkles}
          disabled={'problem' in read}
          onClick={() => 'value' in read && change(JSON.stringify(read.value, null, 2))}
        >
          Format
        </Button>
      </div>
      <div className="flex min-w-0 overflow-hidden rounded-md border border-line has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-offset-2 has-[:focus-visible]:outline-accent">
        <div aria-hidden className="relative w-10 shrink-0 overflow-hidden bg-sunk">
          <div
            ref={numbers}
            className="absolute inset-x-0 top-0 py-1.5 pr-2 text-right font-mono text-xs leading-5 text-soft"
          >
            {/* One text node for all lines. The message below names the wrong line. */}
            <pre className="font-mono">{numbersOf(lines)}</pre>
          </div>
        </div>
        <TextArea
          id={id}
          ref={area}
          wrap="off"
          aria-describedby={`${id}-about`}
          aria-invalid={wrongLine !== null || problems.length > 0}
          className="grow resize-y rounded-none border-0 leading-5 outline-none"
          rows={Math.min(MOST_LINES, Math.max(LEAST_LINES, lines + 1))}
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={pressed}
          onFocus={() => setCapturesTab(true)}
          onScroll={({ currentTarget }) => {
            if (numbers.current !== null) numbers.current.style.top = `${-currentTarget.scrollTop}px`
          }}
        />
      </div>
      <div id={`${id}-about`} className="text-xs text-soft">
        {'problem' in read && (
          <p className="text-dead">
            Line {read.problem.line}, column {read.problem.column}: {read.problem.says}.
          </p>
        )}
        {problems.slice(0, MOST_PROBLEMS).map((problem) => (
          <p key={problem} className="break-words text-dead">
            {problem}
          </p>
        ))}
        {problems.length > MOST_PROBLEMS && (
          <p className="text-dead">and {problems.length - MOST_PROBLEMS} more</p>
        )}
        {capturesTab ? 'Tab indents. Press Esc, then Tab to leave the editor.' : 'Tab leaves the editor.'}
      </div>
    </div>
  )
}

const MOST_NUMBERED = 20_000

function numbersOf(lines: number): string {
  return Array.from({ length: Math.min(lines, MOST_NUMBERED) }, (_, at) => at + 1).join('\n')
}
