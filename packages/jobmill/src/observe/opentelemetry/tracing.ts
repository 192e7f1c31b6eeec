/**
 * Spans of jobs. Each attempt is a trace of its own, linked to the span that enqueued the job: a job may run
 * days later and several times, and one call may enqueue thousands.
 */
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import type { Outcome } from '../../job/attempt/outcome.ts'
import { BOUNDS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { AttemptTrace, StepTrace, TracedJob, Tracing } from '../../job/tracing.ts'
import { ending, quietly, recordError, startSpan } from './safe-span.ts'

/** The other outcomes are not errors. */
const FAILURES: ReadonlySet<Outcome> = new Set(['failed', 'timed-out', 'failed-permanently'])

export function tracingWith(tracer: Tracer): Tracing {
  return {
    enqueue<T>(jobs: readonly NewJob[], write: (jobs: readonly NewJob[]) => T): T {
      const [first] = jobs
      if (first === undefined) return write(jobs)
      const span = startSpan(tracer, `enqueue ${first.kind}`, {
        kind: SpanKind.PRODUCER,
        attributes: enqueueAttributes(jobs),
        links: jobs.flatMap(linkTo),
      })
      return ending(span, () => write(withContext(jobs, span.spanContext())))
    },
    attempt: (job, now) => attemptTrace(tracer, job, now),
  }
}

function attemptTrace(tracer: Tracer, job: TracedJob, now: number): AttemptTrace {
  const { kind } = job
  // Not in the current context: a directly dispatched job would otherwise start in the context of the call
  // that enqueued it.
  const span = startSpan(
    tracer,
    `run ${kind}`,
    {
      kind: SpanKind.CONSUMER,
      root: true,
      attributes: attemptAttributes('run', job),
      links: linkTo(job),
    },
    ROOT_CONTEXT,
  )
  const inside = trace.setSpan(ROOT_CONTEXT, span)
  // Dates, because a number before the start of this process would be read as a time on another clock.
  const startTime = new Date(now - Math.max(0, job.waitedMs))
  const wait = startSpan(
    tracer,
    `wait ${kind}`,
    { startTime, attributes: attemptAttributes('wait', job) },
    inside,
  )
  quietly(() => wait.end(new Date(now)))
  const ids = span.spanContext()
  return {
    ids: isSpanContextValid(ids) ? { traceId: ids.traceId, spanId: ids.spanId } : null,
    run: (work) => context.with(inside, work),
    step: (name) => stepTrace(tracer, job, name, inside),
    ended(outcome, error) {
      quietly(() => span.setAttribute('jobmill.outcome', outcome))
      if (FAILURES.has(outcome)) recordError(span, error, outcome)
      quietly(() => span.end())
    },
    finish(write) {
      const options = { kind: SpanKind.CLIENT, attributes: attemptAttributes('finish', job) }
      const finish = startSpan(tracer, `finish ${kind}`, options, inside)
      return ending(finish, write, (finished) => {
        if (finished?.accepted === true) return
        const why = finished === null ? 'could not be written' : 'the attempt no longer holds the lease'
        recordError(finish, why, finished === null ? 'given-up' : 'lease-lost')
      })
    },
  }
}

/** The name of a step may contain the item of a loop, so it is an attribute and not the name of the span. */
function stepTrace(tracer: Tracer, job: TracedJob, name: string, inside: Context): StepTrace {
  const attributes = { ...attemptAttributes('step', job), 'jobmill.step': name }
  const span = startSpan(tracer, `step ${job.kind}`, { attributes }, inside)
  return {
    run: (work) => context.with(trace.setSpan(inside, span), work),
    ended(...[error]) {
      if (error !== undefined) recordError(span, error, 'failed')
      quietly(() => span.end())
    },
  }
}

function linkTo({ metadata }: { readonly metadata: string | null }) {
  const found = contextIn(metadata)
  return found === null ? [] : [{ context: found }]
}

/** The operation types of the OpenTelemetry conventions, which have none for waiting. */
const TYPE_OF = { enqueue: 'send', wait: null, run: 'process', step: null, finish: 'settle' } as const
type Operation = keyof typeof TYPE_OF

function attemptAttributes(operation: Operation, { id, kind, queue, attempt }: TracedJob): Attributes {
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
function enqueueAttributes(jobs: readonly NewJob[]): Attributes {
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

const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** Adds this context to the metadata of the jobs. A job that already has a `traceparent` keeps it. */
export function withContext(jobs: readonly NewJob[], context: SpanContext): readonly NewJob[] {
  if (!isSpanContextValid(context)) return jobs
  const headers = JSON.stringify(headersOf(context))
  return jobs.map((job) => {
    const metadata = joinJson(job.metadata, headers)
    // Skipped if the metadata would become too large: tracing must not cause an enqueue to fail.
    if (contextIn(job.metadata) !== null || Buffer.byteLength(metadata) > BOUNDS.metadataBytes) return job
    return { ...job, metadata }
  })
}

/** The context of a job. Null when it has none or it is invalid. */
export function contextIn(metadata: string | null): SpanContext | null {
  // Most metadata has no trace context and need not be parsed.
  if (metadata?.includes('"traceparent"') !== true) return null
  const { traceparent, tracestate } = JSON.parse(metadata) as Readonly<Record<string, unknown>>
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    (typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null) ?? []
  if (version === '00' && rest !== undefined) return null
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (!isSpanContextValid(context)) return null
  return typeof tracestate === 'string' ? { ...context, traceState: createTraceState(tracestate) } : context
}

function headersOf({ traceId, spanId, traceFlags, traceState }: SpanContext): Record<string, string> {
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0')
  const traceparent = `00-${traceId}-${spanId}-${flags}`
  const tracestate = traceState?.serialize() ?? ''
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/** Joins two objects in JSON text. */
function joinJson(metadata: string | null, headers: string): string {
  if (metadata === null || metadata === '{}') return headers
  return `${metadata.slice(0, -1)},${headers.slice(1)}`
}
