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

export function TickStrip({ history }: { readonly history: readonly Tick[] }) {
  const ran = history.filter(({ outcome }) => outcome === 'enqueued')
  const last = ran.find(({ state }) => state === 'done')
  const dead = ran.filter(({ state }) => state === 'dead').length
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 pb-3">
      <span
        role="img"
        aria-label={`Latest runs, oldest first: ${history.toReversed().map(wordOf).join(', ')}`}
        className="flex gap-0.5"
      >
        {history.toReversed().map((tick) => (
          <span
            key={tick.at}
            title={wordOf(tick)}
            className={classes(
              'h-5 w-1.5 rounded-sm',
              tick.outcome === 'skipped' || tick.state === null ? 'bg-line' : COLOURS[tick.state],
            )}
          />
        ))}
      </span>
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
