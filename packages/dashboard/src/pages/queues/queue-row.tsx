/** A queue in the table. */
import type { ReactNode } from 'react'
import { encodeName } from '../../api/client.ts'
import { useOverrides } from '../../api/overrides.ts'
import type { QueueAndCounts, UnservedKind } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { classes } from '../../kit/classes.ts'
import { number, plural, rate, span } from '../../kit/text/format.ts'
import { QueueHealth } from '../../kit/health.tsx'
import { Opener } from '../../kit/table/opener.tsx'
import { Sparkline } from '../../kit/charts/sparkline.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { ActsCell, Cell, type Column, Row } from '../../kit/table/table.tsx'
import type { HourOf } from './metrics.ts'
import { QueueActs } from './queue-acts.tsx'
import { OverLimit } from './over-limit/over-limit.tsx'
import { CountLink, NarrowCounts } from './queue-counts.tsx'
import { ServedBy } from './served-by.tsx'
import type { Server } from './serving.ts'

/** On a phone, the first column has the counts. */
const WIDE = 'max-sm:hidden'

const NAME = { key: 'name', name: 'Queue' }
const COLUMNS = [
  { key: 'ready', name: 'Ready', right: true, className: WIDE },
  { key: 'scheduled', name: 'Scheduled', right: true, className: WIDE },
  { key: 'running', name: 'Running', right: true, className: WIDE },
  { key: 'dead', name: 'Dead', right: true, className: WIDE },
  { key: 'done', name: 'Done', right: true, className: WIDE },
  { key: 'hour', name: <span title="Last hour">Throughput</span>, className: WIDE },
  { key: 'workers', name: 'Workers', className: WIDE },
  { key: 'served', name: 'Served by', className: WIDE },
  { key: 'acts', name: <span className="sr-only">Actions</span> },
]

export const queueColumns = (isWide: boolean): readonly Column[] =>
  isWide ? [NAME, { key: 'health', name: 'Health' }, ...COLUMNS] : [NAME, ...COLUMNS]

export const QUEUE_VALUES: SortValues<QueueAndCounts> = {
  name: ({ settings }) => settings.name,
  ready: ({ counts }) => counts.ready,
  scheduled: ({ counts }) => counts.scheduled,
  running: ({ counts }) => counts.running,
  dead: ({ counts }) => counts.dead,
  done: ({ counts }) => counts.done,
  workers: ({ settings }) => settings.workers,
}

interface Props {
  readonly queue: QueueAndCounts
  readonly asOf: number
  readonly hour: HourOf | undefined
  readonly servers: readonly Server[]
  readonly unservedKinds: readonly UnservedKind[]
  readonly isMarked: boolean
  readonly isOpen: boolean
  /** The health has a column of its own. Otherwise it is below the name, unless it is ok. */
  readonly isWide: boolean
  readonly turn: () => void
}

export function QueueRow(props: Props) {
  const { queue, asOf, hour, servers, unservedKinds, isMarked, isOpen, isWide, turn } = props
  const { settings, counts } = queue
  const { name, workers, limit } = settings
  const failures = hour?.failures ?? 0
  const overrides = useOverrides('queue', name)
  return (
    <Row isMarked={isMarked}>
      <Cell>
        <div id={`queue-${name}`} className="min-w-28 sm:max-w-40 min-[90rem]:max-w-52">
          <Opener isOpen={isOpen} turn={turn} title={name}>
            {name}
          </Opener>
          <div className="pl-5 text-xs">
            {!isWide && queue.health.word !== 'ok' && <QueueHealth queue={queue} asOf={asOf} />}
            <NarrowCounts counts={counts} />
            {overrides.size > 0 && <p className="text-ready">{plural(overrides.size, 'override')}</p>}
            <OverLimit queue={queue} servers={servers} />
            {unservedKinds.length > 0 && servers.length > 0 && (
              <p className="text-dead">{plural(unservedKinds.length, 'kind')} without a worker</p>
            )}
          </div>
        </div>
      </Cell>
      {isWide && (
        <Cell>
          <QueueHealth queue={queue} asOf={asOf} />
        </Cell>
      )}
      <Cell right className={WIDE}>
        <CountLink counts={counts} state="ready" />
        <Second>{counts.oldestReadyMs !== null && `oldest ${waits(counts.oldestReadyMs)}`}</Second>
      </Cell>
      {(['scheduled', 'running', 'dead'] as const).map((state) => (
        <Cell key={state} right className={WIDE}>
          <CountLink counts={counts} state={state} />
        </Cell>
      ))}
      <Cell right className={WIDE}>
        <CountLink counts={counts} state="done" />
        <Second>
          {counts.cancelled > 0 && (
            <>
              <CountLink isInText counts={counts} state="cancelled" /> cancelled
            </>
          )}
        </Second>
      </Cell>
      <Cell className={WIDE}>
        <span className="flex items-center gap-2 whitespace-nowrap tabular-nums">
          <Sparkline label={`Throughput of ${name}, last hour`} values={hour?.done ?? [0, 0]} colour="done" />
          <span>
            {rate(hour?.donePerSecond ?? 0)}
            <Second>
              {failures > 0 && <span className="text-dead">{plural(failures, 'failure')}</span>}
            </Second>
          </span>
        </span>
      </Cell>
      <Cell className={classes('whitespace-nowrap tabular-nums', WIDE)}>
        {workers === null ? (
          <span className="text-soft" title="10 in each process">
            auto
          </span>
        ) : (
          number(workers)
        )}
        {limit !== null && (
          <Second>
            <span className="block max-w-32 truncate" title={`limit ${limit}`}>
              limit <TextLink to={`/limits?open=${encodeName(limit)}`}>{limit}</TextLink>
            </span>
          </Second>
        )}
      </Cell>
      <Cell className={WIDE}>
        <ServedBy servers={servers} />
      </Cell>
      <ActsCell>
        <QueueActs queue={queue} />
      </ActsCell>
    </Row>
  )
}

const MINUTE = 60_000

/** Above a minute, seconds do not matter. */
const waits = (ms: number): string => span(ms < MINUTE ? ms : ms - (ms % MINUTE))

/** A secondary line below a number. */
function Second({ children }: { readonly children: ReactNode }) {
  if (children === false) return null
  return <span className="block text-xs text-soft">{children}</span>
}
