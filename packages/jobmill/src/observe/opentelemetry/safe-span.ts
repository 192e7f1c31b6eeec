/** Spans that cannot break a job: samplers and processors are third-party code and may throw. */
import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { errorText } from '../../job/text/error-text.ts'

/** Returns a span that records nothing if it cannot be started. */
export function startSpan(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  parent: Context = context.active(),
): Span {
  try {
    return tracer.startSpan(name, options, parent)
  } catch {
    return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  }
}

export function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // Ignored: the tracing SDK has a log of its own.
  }
}

/** Records an error on its span. */
export function recordError(span: Span, error: unknown, type: string): void {
  // Built by errorText, because reading a thrown value may throw.
  const message = errorText(error)
  quietly(() => span.setStatus({ code: SpanStatusCode.ERROR, message }))
  quietly(() => span.setAttribute('error.type', type))
  quietly(() => span.recordException(error instanceof Error ? error : message))
}

/**
 * Ends the span when the work is finished. Returns the result unchanged; a promise stays the same promise.
 */
export function ending<T>(span: Span, work: () => T, look: (answer: Awaited<T>) => void = () => {}): T {
  const answered = (answer: Awaited<T>): void => {
    look(answer)
    quietly(() => span.end())
  }
  const threw = (error: unknown): void => {
    recordError(span, error, 'error')
    quietly(() => span.end())
  }
  try {
    const going = work()
    if (going instanceof Promise) (going as Promise<Awaited<T>>).then(answered, threw)
    else answered(going as Awaited<T>)
    return going
  } catch (error) {
    threw(error)
    throw error
  }
}
