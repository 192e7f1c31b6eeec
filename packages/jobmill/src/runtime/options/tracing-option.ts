/** The option `tracing`. */
import { JobmillError, quote } from '../../job/errors.ts'
import type { Tracing } from '../../job/tracing.ts'

export function checkTracing(tracing: Tracing | undefined): Tracing | null {
  if (tracing === undefined) return null
  const given: unknown = tracing
  if (
    typeof given === 'object' &&
    given !== null &&
    typeof tracing.enqueue === 'function' &&
    typeof tracing.attempt === 'function'
  )
    return tracing
  throw new JobmillError('OPTION_INVALID', 'must be a tracing object', {
    field: 'tracing',
    value: quote(given),
    fix: 'Pass openTelemetry() from jobmill/opentelemetry, or omit it',
  })
}
