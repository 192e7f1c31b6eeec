/** One queue in the table. Every count links to its jobs. */
import { type QueuePoints, sumOf } from '../../api/charts/charts.ts'
import type { QueueAndCounts } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { number, rate, span } from '../../kit/text/format.ts'
import { Sparkline } from '../../kit/charts/sparkline.tsx'
import { QueueHealth } from '../../kit/health.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'
import { binsOf, ratesIn } from '../../metrics/bins.ts'
import { MINUTE, recentOf } from './metrics/compare.ts'

interface Props {
  readonly queue: QueueAndCounts
  /** When the counts were loaded. */
  readonly asOf: number
  /** When the points were loaded. */
  readonly now: number
  readonly points: QueuePoints['points']
}

export function QueueRow({ queue, asOf, now, points }: Props) {
  const { settings, counts } = queue
  const { name } = settings
  const recent = recentOf(now)
  const done = sumOf(
    points.filter(({ at }) => at >= recent.from),
    'done',
  )
  const perSecond = done / Math.max(1, (recent.to - recent.from) / 1_000)
  const bins = binsOf({ from: now - 60 * MINUTE, to: now, resolutionMs: MINUTE, now })
  return (
    <Row>
      <Cell className="max-w-56">
        <TextLink to={`/queues#${encodeURIComponent(name)}`} className="block truncate font-medium">
          <span title={name}>{name}</span>
        </TextLink>
      </Cell>
      <Cell>
        <QueueHealth queue={queue} asOf={asOf} />
      </Cell>
      {(['ready', 'running', 'dead'] as const).map((state) => (
        <Cell key={state} right>
          <Count queue={name} state={state} jobs={counts[state]} />
        </Cell>
      ))}
      <Cell right className={counts.oldestReadyMs === null ? 'text-soft' : ''}>
        {counts.oldestReadyMs === null ? '–' : span(counts.oldestReadyMs)}
      </Cell>
      <Cell right>
        <span className="inline-flex items-center gap-3">
          {rate(perSecond)}
          <Sparkline
            label={`Throughput of ${name}, last hour`}
            values={ratesIn(bins, points, ({ counters }) => counters.done)}
          />
        </span>
      </Cell>
    </Row>
  )
}

function Count({
  queue,
  state,
  jobs,
}: {
  readonly queue: string
  readonly state: string
  readonly jobs: number
}) {
  if (jobs === 0) return <span className="text-soft">0</span>
  return (
    <TextLink
      to={`/jobs?queue=${encodeURIComponent(queue)}&state=${state}`}
      className={state === 'dead' ? 'text-dead' : ''}
    >
      {number(jobs)}
    </TextLink>
  )
}
