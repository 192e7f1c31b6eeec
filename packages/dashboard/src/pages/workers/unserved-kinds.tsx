/** Waiting jobs without a worker, and how to fix it. */
import { encodeName } from '../../api/client.ts'
import type { Instance, QueueAndCounts, UnservedKind } from '../../api/types.ts'
import { isClaiming } from '../../metrics/workers.ts'
import { TextLink } from '../../kit/button.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import { Card } from '../../kit/card.tsx'
import { number } from '../../kit/text/format.ts'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'

const COLUMNS = [
  { key: 'queue', name: 'Queue' },
  { key: 'kind', name: 'Kind' },
  { key: 'jobs', name: 'Jobs', right: true },
  { key: 'fix', name: 'Fix' },
]

interface Waiting {
  readonly queue: string
  /** Null: scheduled jobs of any kind. */
  readonly kind: string | null
  readonly minVersion: number | null
  readonly jobs: number
  /** The list of these jobs. */
  readonly to: string
  readonly fix: string
}

const VALUES: SortValues<Waiting> = {
  queue: ({ queue }) => queue,
  kind: ({ kind }) => kind,
  jobs: ({ jobs }) => jobs,
}

interface Props {
  readonly unservedKinds: readonly UnservedKind[]
  /** Queues with waiting jobs that no live process serves. */
  readonly queues: readonly QueueAndCounts[]
  readonly instances: readonly Instance[]
}

export function UnservedKindsCard({ unservedKinds, queues, instances }: Props) {
  const others = queues.filter(({ settings }) => !unservedKinds.some(({ queue }) => queue === settings.name))
  if (unservedKinds.length === 0 && others.length === 0) return null
  return (
    <Card flush title="No workers" className="mb-4 border-dead!">
      <p className="px-4 pb-2 text-soft">
        {instances.some(isClaiming)
          ? 'No worker handles these jobs. Start a worker for their kind and queue, or cancel the jobs.'
          : 'No process claims jobs. Start one: jobmill work'}
      </p>
      <SortedTable
        label="Jobs without a worker"
        columns={COLUMNS}
        rows={waitingOf(unservedKinds, others, instances)}
        values={VALUES}
        sort="waiting"
      >
        {({ queue, kind, minVersion, jobs, to, fix }) => (
          <Row key={`${queue} ${kind} ${minVersion}`}>
            <Cell>
              <QueueName name={queue} />
            </Cell>
            <Cell className={kind === null ? 'text-soft' : ''}>
              {kind === null ? (
                'any'
              ) : (
                <span className="block max-w-64 truncate font-mono text-xs" title={kind}>
                  <KindLink kind={kind} />
                </span>
              )}
              {minVersion !== null && (
                <span className="text-xs text-soft">version {minVersion} or later</span>
              )}
            </Cell>
            <Cell right>
              <TextLink to={to}>{number(jobs)}</TextLink>
            </Cell>
            <Cell className="min-w-64">{fix}</Cell>
          </Row>
        )}
      </SortedTable>
    </Card>
  )
}

function waitingOf(
  unservedKinds: readonly UnservedKind[],
  queues: readonly QueueAndCounts[],
  instances: readonly Instance[],
): Waiting[] {
  return [
    ...unservedKinds.map(({ queue, kind, minVersion, jobs }) => ({
      queue,
      kind,
      minVersion,
      jobs,
      to: `/jobs?queue=${encodeName(queue)}&kind=${encodeName(kind)}&state=ready`,
      fix: whatToDo({ kind, queue, minVersion }, instances),
    })),
    ...queues.map(({ settings: { name }, counts: { scheduled } }) => ({
      queue: name,
      kind: null,
      minVersion: null,
      jobs: scheduled,
      to: `/jobs?queue=${encodeName(name)}&state=scheduled`,
      fix: 'Add the queue to a process before the scheduled jobs are due.',
    })),
  ]
}

function whatToDo(
  { kind, queue, minVersion }: Pick<UnservedKind, 'kind' | 'queue' | 'minVersion'>,
  instances: readonly Instance[],
): string {
  const alive = instances.filter(isClaiming)
  if (minVersion !== null) return `Start a process with version ${minVersion} or later of this kind.`
  if (alive.some(({ queues }) => queues.includes(queue)))
    return 'Start a process with a handler for this kind, or add the handler to a running one.'
  return alive.some(({ kinds }) => kinds.includes(kind))
    ? 'Add the queue to a process that handles this kind.'
    : 'Start a process that serves this queue and handles this kind.'
}

function QueueName({ name }: { readonly name: string }) {
  return (
    <span className="block max-w-48 truncate" title={name}>
      <TextLink to={`/queues#${encodeName(name)}`}>{name}</TextLink>
    </span>
  )
}
