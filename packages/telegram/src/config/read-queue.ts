/** Reads the QUEUE_ variables: retention, its interval, and the lease of running jobs. */
import type { GatewayConfig } from './config.ts'
import { durationAt, type Problems } from './problems.ts'
import { type Env, nonBlank } from './secrets.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export function queueOf(env: Env, found: Problems): Pick<GatewayConfig, 'retention' | 'leaseMs'> {
  const of = (name: string, otherwise: number): number =>
    durationAt(nonBlank(env[name]), otherwise, found.at(name))
  const kept = (name: string, otherwise: number | null): number | null => {
    const text = nonBlank(env[name])
    return text === 'forever' ? null : text === undefined ? otherwise : of(name, 0)
  }
  const stuck = 'QUEUE_STUCK_TIMEOUT'
  const stuckAt = found.at(stuck)
  const leaseMs = nonBlank(env[stuck]) === undefined ? null : of(stuck, 10_000)
  if (leaseMs !== null && leaseMs < 6_000)
    stuckAt.error('must be at least 6s', 'Set it to 6s or more, or unset it')
  if (leaseMs !== null && leaseMs > MINUTE_MS)
    stuckAt.warn(
      'delays the jobs of a crashed process by more than a minute',
      'Unset it: long jobs do not need it, and jobs of a crashed process are retried within 15 s',
    )
  const everyMs = of('QUEUE_JANITOR_INTERVAL', HOUR_MS)
  if (everyMs < 1_000)
    found.at('QUEUE_JANITOR_INTERVAL').error('must be at least 1s', 'Set it to 1s or more, or unset it')
  return {
    retention: {
      doneMs: kept('QUEUE_DONE_RETENTION', 7 * DAY_MS),
      deadMs: kept('QUEUE_DEAD_RETENTION', null),
      everyMs,
    },
    leaseMs,
  }
}
