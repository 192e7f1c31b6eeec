/** Usage meter: a bar, and the numbers as text. */
import { classes } from '../classes.ts'
import { number } from '../text/format.ts'

interface Props {
  /** What is measured, for screen readers. */
  readonly label: string
  readonly used: number
  readonly of: number
  readonly unit: string
  /** Defaults to a plain number. */
  readonly text?: (n: number) => string
  /** Being full is a problem. */
  readonly isBadWhenFull?: boolean
}

export function Meter({ label, used, of, unit, text = number, isBadWhenFull = false }: Props) {
  const most = `${text(of)} ${unit}`.trim()
  const share = of === 0 ? 0 : Math.min(1, used / of)
  return (
    <span className="inline-flex items-center gap-x-2 whitespace-nowrap tabular-nums max-sm:flex-wrap">
      <span
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(of, used)}
        aria-valuenow={used}
        aria-valuetext={`${text(used)} of ${most}`}
        className="h-2 w-20 shrink-0 overflow-hidden rounded-full bg-line"
      >
        <span
          className={classes(
            'block h-full rounded-full',
            isBadWhenFull && share === 1 ? 'bg-ready' : 'bg-accent',
          )}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      <span>
        {text(used)} <span className="text-soft">{`of ${most}`}</span>
      </span>
    </span>
  )
}
