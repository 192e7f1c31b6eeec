/** The legend of a chart: each line with its value. A click hides or shows a line. */
import { classes } from '../classes.ts'
import type { Line } from './line.ts'

interface Props {
  readonly lines: readonly Line[]
  /** The index of the shown values. */
  readonly at: number
  readonly format: (value: number) => string
  readonly hidden: ReadonlySet<string>
  readonly toggle: (name: string) => void
}

export function Legend({ lines, at, format, hidden, toggle }: Props) {
  return lines.map(({ name, colour, values, isDashed = false }) => {
    const value = values[at] ?? null
    const isShown = !hidden.has(name)
    return (
      <button
        key={name}
        type="button"
        aria-pressed={isShown}
        title={`${isShown ? 'Hide' : 'Show'} ${name}`}
        onClick={() => toggle(name)}
        className="inline-flex min-h-6 max-w-full items-center gap-1.5 rounded whitespace-nowrap hover:text-text"
      >
        <span
          aria-hidden
          className={classes('w-3 shrink-0 border-t-2', isDashed && 'border-dashed')}
          style={{ borderColor: `var(--c-${isShown ? colour : 'line'})` }}
        />
        <span className={classes('max-w-32 truncate', !isShown && 'line-through')}>{name}</span>
        <b className="font-medium text-text tabular-nums">
          {value === null || !isShown ? '–' : format(value)}
        </b>
      </button>
    )
  })
}
