/** One queue in the table. Every count links to its jobs. On a phone, the first column has them. */
import { type QueuePoints, sumOf } from '../../api/charts/charts.ts'
import type { QueueAndCounts } from '../../api/types.ts'
import { useMay } from '../../api/user/roles.ts'
import { TextLink } from '../../kit/button.tsx'
import { classes } from '../../kit/classes.ts'
import { rate, span } from '../../kit/text/format.ts'
import { Sparkline } from '../../kit/charts/sparkline.tsx'
import { QueueHealth } from '../../kit/health.tsx'
import { ActsCell, Cell, Row } from '../../kit/table/table.tsx'
import { binsOf, ratesIn } from '../../metrics/bins.ts'
import { QueueActs } from '../queues/queue-acts.tsx'
import { CountLink, NarrowCounts } from '../queues/queue-counts.tsx'
import { MINUTE, recentOf } from './metrics/compare.ts'

export const WIDE = 'max-sm:hidden'

interface Props {
  readonly queue: QueueAndCounts
  /** When the counts were loaded. */
  readonly asOf: number
  /** When the points were loaded. */
  readonly now: number
  readonly points: QueuePoints['points']
}

export function QueueRow({ queue, asOf, now, points }: Props) {
  const may = useMay()
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
      <Cell className="w-full max-w-0 sm:w-auto sm:max-w-56">
        <TextLink to={`/queues#${encodeURIComponent(name)}`} className="block truncate font-medium">
          <span title={name}>{name}</span>
        </TextLink>
        <div className="sm:hidden">
          <span className="text-xs">
            <QueueHealth queue={queue} asOf={asOf} />
          </span>
          <NarrowCounts counts={counts} />
        </div>
      </Cell>
      <Cell className={WIDE}>
        <QueueHealth queue={queue} asOf={asOf} />
      </Cell>
      {(['ready', 'running', 'dead'] as const).map((state) => (
        <Cell key={state} right className={WIDE}>
          <CountLink isWhole counts={counts} state={state} />
        </Cell>
      ))}
      <Cell right className={classes(WIDE, counts.oldestReadyMs === null && 'text-soft')}>
        {counts.oldestReadyMs === null ? '–' : span(counts.oldestReadyMs)}
      </Cell>
      <Cell right className={WIDE}>
        <span className="inline-flex items-center gap-3">
          {rate(perSecond)}
          <Sparkline
            label={`Throughput of ${name}, last hour`}
            values={ratesIn(bins, points, ({ counters }) => counters.done)}
          />
        </span>
      </Cell>
      {may('operator') && (
        <ActsCell>
          <QueueActs queue={queue} />
        </ActsCell>
      )}
    </Row>
  )
}
