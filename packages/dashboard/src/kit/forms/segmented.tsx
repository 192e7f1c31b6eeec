/** A group of buttons of which one is selected. */
import { classes } from '../classes.ts'

interface Props<Choice extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string
  readonly choices: readonly Choice[]
  /** Null when none is selected. */
  readonly chosen: Choice | null
  readonly choose: (choice: Choice) => void
}

export function Segmented<Choice extends string>({ label, choices, chosen, choose }: Props<Choice>) {
  return (
    <div role="group" aria-label={label} className="inline-flex rounded-md border border-line bg-sunk p-0.5">
      {choices.map((choice) => (
        <button
          key={choice}
          type="button"
          aria-pressed={choice === chosen}
          onClick={() => choose(choice)}
          className={classes(
            'h-7 rounded px-2 text-xs whitespace-nowrap tabular-nums sm:px-2.5',
            choice === chosen ? 'bg-card font-semibold text-text shadow-sm' : 'text-soft hover:text-text',
          )}
        >
          {choice}
        </button>
      ))}
    </div>
  )
}
