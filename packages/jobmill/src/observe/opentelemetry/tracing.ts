/**
 * Spans of jobs. Each attempt is a trace of its own, linked to the span that enqueued the job: a job may run
 * days later and several times, and one call may enqueue thousands.
 */
import { context, isSpanContextValid, ROOT_CONTEXT, SpanKind, trace, type Tracer } from '@opentelemetry/api'
import type { NewJob } from '../../job/new-job.ts'
import type { Outcome } from '../../job/attempt/outcome.ts'
import type { AttemptTrace, TracedJob, Tracing } from '../../job/tracing.ts'
import { attemptAttributes, enqueueAttributes } from './attributes.ts'
import { ending, recordError, quietly, startSpan } from './safe-span.ts'
import { contextIn, withContext } from './trace-context.ts'

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

function linkTo({ metadata }: { readonly metadata: string | null }) {
  const found = contextIn(metadata)
  return found === null ? [] : [{ context: found }]
}
