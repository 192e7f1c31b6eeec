/** The text being typed in the filter field, its suggestions and its problems. */
import { useState } from 'react'
import type { Filter, Wrong } from './filter.ts'
import { parse } from './parse.ts'
import { partsOf } from './parts.ts'
import { type KnownNames, suggest, type Suggested, type Suggestion } from './suggest.ts'

export interface Draft {
  readonly text: string
  readonly suggested: Suggested
  readonly wrong: readonly Wrong[]
  readonly write: (text: string, caret: number) => void
  /** Moves the valid parts into the filter; the rest stays in the field. */
  readonly enter: () => void
  readonly take: (suggestion: Suggestion) => void
}

export function useDraft(filter: Filter, choose: (filter: Filter) => void, known: KnownNames): Draft {
  const [{ text, caret }, setDraft] = useState({ text: '', caret: 0 })
  const [isEntered, setEntered] = useState(false)
  const { mayPayload } = known
  const suggested = suggest(text, caret, known)
  const { wrong } = parse(text, { onto: filter, mayPayload })
  const unfinished = partsOf(text).at(-1)
  const write = (next: string, at: number): void => {
    setDraft({ text: next, caret: at })
    if (next.trim() === '') setEntered(false)
  }

  function enter(given: string): void {
    const parsed = parse(given, { onto: filter, mayPayload })
    const left = parsed.wrong.map(({ part }) => part).join(' ')
    write(left, left.length)
    setEntered(left !== '')
    if (parsed.filter !== filter) choose(parsed.filter)
  }

  return {
    text,
    suggested,
    // A part that is still being typed is not reported yet.
    wrong: isEntered ? wrong : wrong.filter(({ part }) => part !== unfinished?.raw || text.endsWith(' ')),
    write,
    enter: () => enter(text),
    take({ insert, isWhole }) {
      const before = text.slice(0, suggested.from)
      const after = text.slice(suggested.to)
      // A complete part moves into the filter at once; the rest of the text stays.
      if (isWhole) {
        const parsed = parse(insert, { onto: filter, mayPayload })
        const rest = `${before}${after}`.trim()
        write(rest, rest.length)
        choose(parsed.filter)
      } else write(`${before}${insert}${after}`, before.length + insert.length)
    },
  }
}
