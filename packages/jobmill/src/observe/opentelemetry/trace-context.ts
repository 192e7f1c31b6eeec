/**
 * Stores a span context in the metadata of a job, under the W3C Trace Context keys, as message headers do.
 */
import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api'
import { BOUNDS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/new-job.ts'

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
