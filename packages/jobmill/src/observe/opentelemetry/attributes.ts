/** Names and attributes of spans: OpenTelemetry messaging conventions, plus `jobmill` attributes. */
import type { Attributes } from '@opentelemetry/api'
import type { NewJob } from '../../job/new-job.ts'
import type { TracedJob } from '../../job/tracing.ts'

/** The operation types of the conventions. They have none for waiting. */
const TYPE_OF = { enqueue: 'send', wait: null, run: 'process', finish: 'settle' } as const
type Operation = keyof typeof TYPE_OF

export function attemptAttributes(operation: Operation, { id, kind, queue, attempt }: TracedJob): Attributes {
  return {
    ...operationAttributes(operation, kind),
    'messaging.destination.name': queue,
    'messaging.message.id': id,
    'jobmill.job.id': id,
    'jobmill.job.attempt': attempt,
    'jobmill.queue': queue,
  }
}

/** The attributes of one call, which may enqueue many jobs of one kind. */
export function enqueueAttributes(jobs: readonly NewJob[]): Attributes {
  const [first] = jobs
  const queue = new Set(jobs.map((job) => job.queue)).size === 1 ? first?.queue : undefined
  return {
    ...operationAttributes('enqueue', first?.kind),
    ...(queue === undefined ? {} : { 'messaging.destination.name': queue, 'jobmill.queue': queue }),
    ...(jobs.length === 1
      ? { 'messaging.message.id': first?.id, 'jobmill.job.id': first?.id }
      : { 'messaging.batch.message_count': jobs.length }),
  }
}

function operationAttributes(operation: Operation, kind: string | undefined): Attributes {
  const type = TYPE_OF[operation]
  return {
    'messaging.system': 'jobmill',
    'messaging.operation.name': operation,
    ...(type === null ? {} : { 'messaging.operation.type': type }),
    'jobmill.job.kind': kind,
  }
}
