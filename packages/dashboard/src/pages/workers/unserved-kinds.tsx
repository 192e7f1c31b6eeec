/** Waiting jobs without a worker, and how to fix it. */
import { encodeName } from '../../api/client.ts'
import type { Instance, QueueAndCounts, UnservedKind } from '../../api/types.ts'
import { isClaiming } from '../../metrics/workers.ts'
import { TextLink } from '../../kit/button.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import { Card } from '../../kit/card.tsx'
import { number } from '../../kit/text/format.ts'
import { Cell, Row, Table } from '../../kit/table/table.tsx'

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
      <Table
        label="Jobs without a worker"
        columns={[
          { key: 'queue', name: 'Queue' },
          { key: 'kind', name: 'Kind' },
          { key: 'jobs', name: 'Jobs', right: true },
          { key: 'do', name: 'Fix' },
        ]}
      >
        {unservedKinds.map(({ queue, kind, jobs }) => (
          <Row key={`${queue} ${kind}`}>
            <Cell>
              <QueueName name={queue} />
            </Cell>
            <Cell>
              <span className="block max-w-64 truncate font-mono text-xs" title={kind}>
                <KindLink kind={kind} />
              </span>
            </Cell>
            <Cell right>
              <TextLink to={`/jobs?queue=${encodeName(queue)}&kind=${encodeName(kind)}&state=ready`}>
                {number(jobs)}
              </TextLink>
            </Cell>
            <Cell className="min-w-64">{whatToDo(kind, queue, instances)}</Cell>
          </Row>
        ))}
        {others.map(({ settings: { name }, counts: { scheduled } }) => (
          <Row key={name}>
            <Cell>
              <QueueName name={name} />
            </Cell>
            <Cell className="text-soft">any</Cell>
            <Cell right>
              <TextLink to={`/jobs?queue=${encodeName(name)}&state=scheduled`}>{number(scheduled)}</TextLink>
            </Cell>
            <Cell className="min-w-64">Add the queue to a process before the scheduled jobs are due.</Cell>
          </Row>
        ))}
      </Table>
    </Card>
  )
}

function whatToDo(kind: string, queue: string, instances: readonly Instance[]): string {
  const alive = instances.filter(isClaiming)
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
