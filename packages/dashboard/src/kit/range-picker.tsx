/** Which stretch of time the charts show: one of the presets, or back out of one that was drawn. */
import { X } from 'lucide-react'
import { PRESETS, type Preset, type Ranging } from '../api/range.ts'
import { classes } from './classes.ts'
import { moment } from './format.ts'

const SHAPE = 'h-7 rounded px-2 text-xs font-medium tabular-nums'

export function RangePicker({
  ranging,
  back = '1h',
}: {
  readonly ranging: Ranging
  /** Where the way out of a drawn range leads. */
  readonly back?: Preset
}) {
  const { range, choose } = ranging
  return (
    <div
      role="group"
      aria-label="Range of time"
      className="flex max-w-full flex-wrap items-center gap-0.5 rounded-md border border-line bg-card p-0.5"
    >
      {(Object.keys(PRESETS) as Preset[]).map((preset) => (
        <button
          key={preset}
          type="button"
          aria-pressed={range.preset === preset}
          onClick={() => choose(preset)}
          className={classes(
            SHAPE,
            range.preset === preset
              ? 'bg-accent text-accent-text'
              : 'text-soft hover:bg-sunk hover:text-text',
          )}
        >
          {preset}
        </button>
      ))}
      {range.preset === null && (
        <button
          type="button"
          aria-label={`Leave the drawn range, back to the last ${back}`}
          onClick={() => choose(back)}
          className={classes(SHAPE, 'inline-flex items-center gap-1 bg-accent text-accent-text')}
        >
          {moment(range.ends().from)} – {moment(range.ends().to)}
          <X aria-hidden className="size-3" />
        </button>
      )}
    </div>
  )
}
