/** Reads the QUEUE_ variables: retention, its interval, and the lease of running jobs. */
import type { GatewayConfig } from './config.ts'
import { durationAt, type Problems } from './problems.ts'
import { nonBlank } from './read-value.ts'
import type { Env } from './secrets.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export function queueOf(env: Env, found: Problems): Pick<GatewayConfig, 'retention' | 'leaseMs'> {
  const of = (name: string, otherwise: number): number =>
    durationAt(nonBlank(env[name]), otherwise, name, found)
  const kept = (name: string, otherwise: number | null): number | null => {
    const text = nonBlank(env[name])
    return text === 'forever' ? null : text === undefined ? otherwise : of(name, 0)
  }
  const stuck = nonBlank(env['QUEUE_STUCK_TIMEOUT'])
  const leaseMs = stuck === undefined ? null : durationAt(stuck, 10_000, 'QUEUE_STUCK_TIMEOUT', found)
  if (leaseMs !== null && leaseMs < 6_000)
    found.error('QUEUE_STUCK_TIMEOUT', 'must be at least 6s', "Write '10s' or more, or unset it")
  if (leaseMs !== null && leaseMs > MINUTE_MS)
    found.warn(
      'QUEUE_STUCK_TIMEOUT',
      'delays the jobs of a crashed process by more than a minute',
      'Unset it: long jobs do not need it, and jobs of a crashed process are retried within 15 s',
    )
  const everyMs = of('QUEUE_JANITOR_INTERVAL', HOUR_MS)
  if (everyMs < 1_000) found.error('QUEUE_JANITOR_INTERVAL', 'must be at least 1s', "Write '1h'")
  return {
    retention: {
      doneMs: kept('QUEUE_DONE_RETENTION', 7 * DAY_MS),
      deadMs: kept('QUEUE_DEAD_RETENTION', null),
      everyMs,
    },
    leaseMs,
  }
}
