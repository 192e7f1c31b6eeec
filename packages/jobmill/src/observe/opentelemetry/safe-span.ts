/** Spans that cannot break a job: samplers and processors are code of somebody else's, and may throw. */
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
import { errorText } from '../../job/error-text.ts'

/** One that records nothing when it cannot be started. */
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
    // Nothing to be done, and nobody to tell: whoever traces has a log of their own.
  }
}

/** What went wrong, on the span of it. */
export function failed(span: Span, error: unknown, type: string): void {
  // A text of ours, because reading what was thrown may throw.
  const message = errorText(error)
  quietly(() => span.setStatus({ code: SpanStatusCode.ERROR, message }))
  quietly(() => span.setAttribute('error.type', type))
  quietly(() => span.recordException(error instanceof Error ? error : message))
}

/** Ends the span when the work has its answer, which is given back as it is: the very promise, if it is one. */
export function ending<T>(span: Span, work: () => T, look: (answer: Awaited<T>) => void = () => {}): T {
  const answered = (answer: Awaited<T>): void => {
    look(answer)
    quietly(() => span.end())
  }
  const threw = (error: unknown): void => {
    failed(span, error, 'error')
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
