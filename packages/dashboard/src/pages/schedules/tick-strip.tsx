/** The latest runs as colored ticks, oldest first, and when the last one succeeded. */
import type { State, Tick } from '../../api/types.ts'
import { classes } from '../../kit/classes.ts'
import { plural } from '../../kit/text/format.ts'
import { Ago, Moment } from '../../kit/text/time.tsx'
import { TextLink } from '../../kit/button.tsx'

const COLOURS: Readonly<Record<State, string>> = {
  scheduled: 'bg-scheduled',
  ready: 'bg-ready',
  running: 'bg-running',
  done: 'bg-done',
  dead: 'bg-dead',
  cancelled: 'bg-cancelled',
}

interface MarksProps {
  readonly history: readonly Tick[]
  /** The height of a tick. */
  readonly className: string
}

/** The ticks without the text next to them. */
export function TickMarks({ history, className }: MarksProps) {
  const ticks = history.toReversed()
  return (
    <span
      role="img"
      aria-label={`Latest runs, oldest first: ${ticks.map(wordOf).join(', ')}`}
      className="flex gap-0.5"
    >
      {ticks.map((tick) => (
        <span
          key={tick.at}
          title={wordOf(tick)}
          className={classes(
            'w-1.5 rounded-sm',
            className,
            tick.outcome === 'skipped' || tick.state === null ? 'bg-line' : COLOURS[tick.state],
          )}
        />
      ))}
    </span>
  )
}

export function TickStrip({ history }: { readonly history: readonly Tick[] }) {
  const ran = history.filter(({ outcome }) => outcome === 'enqueued')
  const last = ran.find(({ state }) => state === 'done')
  const dead = ran.filter(({ state }) => state === 'dead').length
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 pb-3">
      <TickMarks history={history} className="h-5" />
      <p>
        {last === undefined ? (
          <span className={dead > 0 ? 'text-dead' : 'text-soft'}>
            No success in the last {plural(ran.length, 'run')}
          </span>
        ) : (
          <>
            Last success{' '}
            <TextLink to={`/jobs/${last.job}`}>
              <Ago at={last.servedAt} />
            </TextLink>{' '}
            <span className="text-soft">
              (<Moment at={last.servedAt} />)
            </span>
          </>
        )}
        {dead > 0 && <span className="text-dead">, {plural(dead, 'dead run')}</span>}
      </p>
    </div>
  )
}

function wordOf({ outcome, state }: Tick): string {
  return outcome === 'skipped' ? 'skipped' : (state ?? 'deleted')
}
