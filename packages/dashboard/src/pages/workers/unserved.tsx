/** What waits and nobody takes, and what to do about it. */
import { named } from '../../api/client.ts'
import type { QueueAndCounts, Unserved } from '../../api/types/mill.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { number, plural } from '../../kit/format.ts'
import { Cell, Row, Table } from '../../kit/table.tsx'

interface Props {
  readonly unserved: readonly Unserved[]
  /** Queues that no living process serves and that hold jobs which wait. */
  readonly queues: readonly QueueAndCounts[]
  readonly isAnybodyAlive: boolean
}

export function UnservedCard({ unserved, queues, isAnybodyAlive }: Props) {
  const others = queues.filter(({ settings }) => !unserved.some(({ queue }) => queue === settings.name))
  if (unserved.length === 0 && others.length === 0) return null
  return (
    <Card flush title="Nobody serves" className="mb-4 border-dead">
      <p className="px-4 pb-2 text-soft">
        {isAnybodyAlive
          ? 'These jobs wait for a process that has their kind and serves their queue. Start one that does, or cancel them.'
          : 'No process is at work. Start one: jobmill work'}
      </p>
      <Table
        label="What nobody serves"
        columns={[
          { key: 'queue', name: 'Queue' },
          { key: 'kind', name: 'Kind' },
          { key: 'jobs', name: 'Jobs', right: true },
          { key: 'do', name: 'What to do' },
        ]}
      >
        {unserved.map(({ queue, kind, jobs }) => (
          <Row key={`${queue} ${kind}`}>
            <Cell>
              <QueueName name={queue} />
            </Cell>
            <Cell>
              <span className="block max-w-64 truncate font-mono text-xs" title={kind}>
                {kind}
              </span>
            </Cell>
            <Cell right>
              <TextLink to={`/jobs?queue=${named(queue)}&kind=${named(kind)}&state=ready`}>
                {number(jobs)}
              </TextLink>
            </Cell>
            <Cell>
              Start a process with a handler for {kind}, or cancel its {plural(jobs, 'job')}.
            </Cell>
          </Row>
        ))}
        {others.map(({ settings: { name }, counts: { scheduled } }) => (
          <Row key={name}>
            <Cell>
              <QueueName name={name} />
            </Cell>
            <Cell className="text-soft">any</Cell>
            <Cell right>
              <TextLink to={`/jobs?queue=${named(name)}&state=scheduled`}>{number(scheduled)}</TextLink>
            </Cell>
            <Cell>Add {name} to the queues of a process before its scheduled jobs are due.</Cell>
          </Row>
        ))}
      </Table>
    </Card>
  )
}

function QueueName({ name }: { readonly name: string }) {
  return (
    <span className="block max-w-48 truncate" title={name}>
      <TextLink to={`/queues#${named(name)}`}>{name}</TextLink>
    </span>
  )
}
