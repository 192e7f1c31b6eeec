/** `jobmill/opentelemetry`: spans of what happens to jobs. Needs `@opentelemetry/api`, and an SDK of yours that says where they go. */
import { trace, type TracerProvider } from '@opentelemetry/api'
import { JobmillError, shown } from './job/errors.ts'
import { checkObjectKeys } from './job/known-keys.ts'
import type { Tracing } from './job/tracing.ts'
import { tracingWith } from './observe/opentelemetry/tracing.ts'

export type { AttemptTrace, TracedJob, TraceIds, Tracing } from './job/tracing.ts'

export interface OpenTelemetryOptions {
  /** Where spans are made (default: the global one, also when it is registered later). */
  readonly tracerProvider?: TracerProvider
}

/** For the option `tracing` of a mill: `jobmill({ store, jobs, tracing: openTelemetry() })`. */
export function openTelemetry(options: OpenTelemetryOptions = {}): Tracing {
  checkObjectKeys(options, 'options', ['tracerProvider'])
  const { tracerProvider = trace } = options
  if (typeof tracerProvider?.getTracer === 'function') return tracingWith(tracerProvider.getTracer('jobmill'))
  throw new JobmillError('OPTION_INVALID', 'is not a provider of tracers', {
    field: 'options.tracerProvider',
    value: shown(tracerProvider),
    fix: 'Leave it out for the global one',
  })
}
