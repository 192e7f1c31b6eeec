/** The next runs: the time until each, and the time in the schedule's zone. */
import { Empty } from '../../kit/data-view.tsx'
import { Ago } from '../../kit/text/time.tsx'

interface Props {
  readonly runs: readonly number[]
  readonly zone: string
  readonly isPaused?: boolean
}

export function NextRuns({ runs, zone, isPaused = false }: Props) {
  if (runs.length === 0)
    return <Empty title="No more runs">The end has passed, or the expression never matches again.</Empty>
  const known = clockOf(zone)
  const clock = known ?? new Intl.DateTimeFormat('en-GB', { ...PARTS, timeZone: 'UTC' })
  return (
    <>
      {isPaused && <p className="mb-2 text-ready">Paused. Next runs once resumed:</p>}
      <ol className="divide-y divide-line">
        {runs.map((at) => (
          <li key={at} className="flex flex-wrap justify-between gap-x-3 py-1.5">
            <span className="tabular-nums">{clock.format(at)}</span>
            <span className="text-soft">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ol>
      <p className="mt-2 text-xs text-soft">
        {known === null ? `Times in UTC: this browser does not know ${zone}` : `Times in ${zone}`}
      </p>
    </>
  )
}

const PARTS = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const

/** Null for a zone that this browser does not know: the server can have newer zones. */
function clockOf(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-GB', { ...PARTS, timeZone: zone })
  } catch {
    return null
  }
}
