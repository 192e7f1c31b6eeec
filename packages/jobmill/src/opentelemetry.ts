/**
 * `jobmill/opentelemetry`: tracing spans for jobs. Requires `@opentelemetry/api` and an SDK that exports
 * them.
 */
import { trace, type TracerProvider } from '@opentelemetry/api'
import { JobmillError, quote } from './job/errors.ts'
import { checkObjectKeys } from './job/options/known-keys.ts'
import type { Tracing } from './job/tracing.ts'
import { tracingWith } from './observe/opentelemetry/tracing.ts'

export type { AttemptTrace, StepTrace, TracedJob, TraceIds, Tracing } from './job/tracing.ts'

export interface OpenTelemetryOptions {
  /** The tracer provider (default: the global one, even if it is registered later). */
  readonly tracerProvider?: TracerProvider
}

/** For the option `tracing` of a mill: `jobmill({ store, jobs, tracing: openTelemetry() })`. */
export function openTelemetry(options: OpenTelemetryOptions = {}): Tracing {
  checkObjectKeys(options, 'options', ['tracerProvider'])
  const { tracerProvider = trace } = options
  if (typeof tracerProvider?.getTracer === 'function') return tracingWith(tracerProvider.getTracer('jobmill'))
  throw new JobmillError('OPTION_INVALID', 'must be a TracerProvider', {
    field: 'options.tracerProvider',
    value: quote(tracerProvider),
    fix: 'Omit it to use the global provider',
  })
}
