/** The filter as one field: existing parts are chips, and the next part is typed after them. */
import { Search } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useShortcut } from '../../../shell/shortcuts.tsx'
import { chipsOf } from './chips.ts'
import type { Filter, Wrong } from './filter.ts'
import type { KnownNames, Suggestion } from './suggest.ts'
import { FilterChip } from './filter-chip.tsx'
import { SuggestionList } from './suggestion-list.tsx'
import { useDraft } from './use-draft.ts'

interface Props {
  readonly filter: Filter
  readonly choose: (filter: Filter) => void
  readonly known: KnownNames
  /** Problems of the filter in the URL. */
  readonly wrong: readonly Wrong[]
}

export function FilterField({ filter, choose, known, wrong: addressed }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  const about = useId()
  const [, go] = useLocation()
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const draft = useDraft(filter, choose, known)
  const { items } = draft.suggested
  const isListed = isOpen && items.length > 0
  const chips = chipsOf(filter)
  const wrong = [...addressed, ...draft.wrong]
  useShortcut('/', 'Filter jobs', () => input.current?.focus())

  function take(suggestion: Suggestion): void {
    setActive(-1)
    // After a key, suggest its values; after a complete part, close the list.
    setOpen(!suggestion.isWhole)
    if (suggestion.opens !== undefined) go(`/jobs/${suggestion.opens}`)
    else draft.take(suggestion)
  }

  function pressed(event: KeyboardEvent): void {
    const chosen = items[active]
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      // The position before the first suggestion is the field itself.
      if (isListed) setActive(((active + 1 + step + items.length + 1) % (items.length + 1)) - 1)
      else setActive(-1)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (isListed && chosen !== undefined) take(chosen)
      else if (items[0]?.opens !== undefined) take(items[0])
      else {
        draft.enter()
        setOpen(false)
      }
    } else if (
      event.key === 'Tab' &&
      !event.shiftKey &&
      isListed &&
      (chosen !== undefined || draft.text.trim() !== '')
    ) {
      const taken = chosen ?? items[0]
      event.preventDefault()
      if (taken !== undefined) take(taken)
    } else if (event.key === 'Escape') {
      if (isListed) setOpen(false)
      else input.current?.blur()
    } else if (event.key === 'Backspace' && draft.text === '') {
      // Backspace would otherwise also delete the last character of the restored text.
      event.preventDefault()
      const last = chips.at(-1)
      if (last !== undefined) edit(last.text, last.without)
    }
  }

  /** Moves a chip back into the field for editing. */
  function edit(text: string, without: Filter): void {
    const next = draft.text.trim() === '' ? text : `${draft.text.trim()} ${text}`
    draft.write(next, next.length)
    choose(without)
    input.current?.focus()
  }

  return (
    <div className="min-w-0">
      <div className="relative">
        <div className="flex min-h-10 flex-wrap items-center gap-1.5 rounded-lg border border-line bg-card px-2 py-1 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent">
          <Search aria-hidden className="mx-1 size-4 shrink-0 text-soft" />
          {chips.map((chip) => (
            <FilterChip
              key={chip.text}
              chip={chip}
              edit={() => edit(chip.text, chip.without)}
              remove={() => choose(chip.without)}
            />
          ))}
          <input
            ref={input}
            role="combobox"
            aria-label="Filter jobs"
            aria-expanded={isListed}
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={isListed && active >= 0 ? `${list}-${active}` : undefined}
            aria-describedby={about}
            aria-invalid={wrong.length > 0}
            autoComplete="off"
            spellCheck={false}
            placeholder={chips.length === 0 ? 'queue:mail state:dead error:"timed out" after:1h' : ''}
            value={draft.text}
            onChange={({ target }) => {
              draft.write(target.value, target.selectionStart ?? target.value.length)
              setActive(-1)
              setOpen(true)
            }}
            onFocus={() => setOpen(true)}
            onClick={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onKeyDown={pressed}
            className="h-7 min-w-24 grow bg-transparent px-1 font-mono text-xs outline-none"
          />
          <kbd
            aria-hidden
            className="mr-1 rounded border border-line bg-sunk px-1.5 font-mono text-xs text-soft max-sm:hidden"
          >
            /
          </kbd>
        </div>
        <SuggestionList id={list} isListed={isListed} items={items} active={active} take={take} />
      </div>
      <ul id={about} aria-live="polite" className="text-xs">
        {wrong.map(({ part, says, fix }, at) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={at} className="mt-1 break-words text-dead">
            <code className="font-mono font-semibold">{part}</code> {says}.{' '}
            <span className="text-soft">{fix}.</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
