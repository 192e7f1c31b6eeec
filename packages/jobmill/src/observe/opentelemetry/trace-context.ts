/** The context of a span in the metadata of a job, under the keys of W3C Trace Context: as the headers of a message carry it. */
import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api'
import { BOUNDS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/new-job.ts'

const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** The jobs with this context in their metadata. One that has a `traceparent` already keeps it: whoever put it there knows better. */
export function withContext(jobs: readonly NewJob[], context: SpanContext): readonly NewJob[] {
  if (!isSpanContextValid(context)) return jobs
  const headers = JSON.stringify(headersOf(context))
  return jobs.map((job) => {
    const metadata = joined(job.metadata, headers)
    // Metadata that would become too large goes without: nothing is refused because it is traced.
    if (contextIn(job.metadata) !== null || Buffer.byteLength(metadata) > BOUNDS.metadataBytes) return job
    return { ...job, metadata }
  })
}

/** The context that a job carries; null for none, or one that makes no sense. */
export function contextIn(metadata: string | null): SpanContext | null {
  // Most metadata is of the user's only, and need not be read for this.
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

/** Two objects as JSON text, as one. */
function joined(metadata: string | null, headers: string): string {
  if (metadata === null || metadata === '{}') return headers
  return `${metadata.slice(0, -1)},${headers.slice(1)}`
}
