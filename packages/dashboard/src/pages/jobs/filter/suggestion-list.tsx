/** Suggestions below the filter field. The focus stays in the field. */
import { classes } from '../../../kit/classes.ts'
import type { Suggestion } from './suggest.ts'

interface Props {
  readonly id: string
  readonly isListed: boolean
  readonly items: readonly Suggestion[]
  /** -1 for none. */
  readonly active: number
  readonly take: (suggestion: Suggestion) => void
}

export function SuggestionList({ id, isListed, items, active, take }: Props) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Suggestions"
      hidden={!isListed}
      className="absolute top-full left-0 z-30 mt-1 max-h-80 w-[min(32rem,100%)] overflow-y-auto rounded-lg border border-line bg-card p-1 shadow-xl"
    >
      {isListed &&
        items.map((item, at) => (
          <div
            key={item.insert}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            // Run before the field loses focus.
            onMouseDown={(event) => {
              event.preventDefault()
              take(item)
            }}
            className={classes(
              'flex h-8 cursor-pointer items-center gap-3 rounded-md px-2 hover:bg-sunk',
              at === active && 'bg-accent-soft',
            )}
          >
            <span className="truncate font-mono text-xs">{item.opens ?? item.insert}</span>
            <span className="ml-auto truncate text-xs text-soft">{item.note}</span>
          </div>
        ))}
    </div>
  )
}
