/** A text field with suggestions. Any text is allowed; suggestions match anywhere in the name. */
import { type InputHTMLAttributes, type KeyboardEvent, useId, useState } from 'react'
import { classes } from '../classes.ts'
import { TextInput } from './field.tsx'

export interface Choice {
  readonly value: string
  /** A short note shown next to the suggestion. */
  readonly note?: string | undefined
}

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange' | 'list'> {
  readonly value: string
  readonly change: (value: string) => void
  readonly choices: readonly Choice[]
}

const MOST_SHOWN = 40

export function Combobox({ value, change, choices, ...rest }: Props) {
  const list = useId()
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  // Show all suggestions until the user types: the current text was chosen earlier.
  const [isTyped, setTyped] = useState(false)
  const found = matching(choices, isTyped ? value : '')
  const isShown = isOpen && found.length > 0 && !(found.length === 1 && found[0]?.value === value)

  function choose(choice: Choice): void {
    change(choice.value)
    setOpen(false)
    setTyped(false)
  }

  function pressed(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt(isShown ? (at + step + found.length) % found.length : 0)
    } else if (event.key === 'Escape' && isShown) {
      // Close only the list, not the dialog around it.
      event.preventDefault()
      event.stopPropagation()
      setOpen(false)
    } else if (event.key === 'Enter' && isShown) {
      event.preventDefault()
      const choice = found[at]
      if (choice === undefined) setOpen(false)
      else choose(choice)
    }
  }

  return (
    <div className="relative min-w-0">
      <TextInput
        {...rest}
        role="combobox"
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isShown && at >= 0 ? `${list}-${at}` : undefined}
        className="w-full"
        value={value}
        onChange={(event) => {
          change(event.target.value)
          setTyped(true)
          setOpen(true)
          setAt(-1)
        }}
        onClick={() => setOpen(true)}
        onBlur={() => {
          setOpen(false)
          setTyped(false)
        }}
        onKeyDown={pressed}
      />
      <div
        id={list}
        role="listbox"
        aria-label="Suggestions"
        hidden={!isShown}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-60 overflow-y-auto rounded-lg border border-line bg-card p-1 shadow-xl"
      >
        {found.map((choice, index) => (
          <div
            key={choice.value}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            ref={(item) => {
              if (index === at) item?.scrollIntoView({ block: 'nearest' })
            }}
            // Run before the field loses focus.
            onMouseDown={(event) => {
              event.preventDefault()
              choose(choice)
            }}
            className={classes(
              'flex cursor-pointer items-center justify-between gap-3 rounded-md px-2 py-1 hover:bg-sunk',
              index === at && 'bg-sunk',
            )}
          >
            <span className="min-w-0 grow basis-1/2 truncate" title={choice.value}>
              {choice.value}
            </span>
            {choice.note !== undefined && (
              <span className="max-w-1/2 truncate text-xs text-soft">{choice.note}</span>
            )}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Suggestions that start with the text come first. */
function matching(choices: readonly Choice[], text: string): readonly Choice[] {
  const wanted = text.trim().toLowerCase()
  const fit = choices.filter(({ value }) => value.toLowerCase().includes(wanted))
  const first = fit.filter(({ value }) => value.toLowerCase().startsWith(wanted))
  return [...first, ...fit.filter((choice) => !first.includes(choice))].slice(0, MOST_SHOWN)
}
