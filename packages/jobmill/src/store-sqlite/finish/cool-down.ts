/** Applies the cool-downs that accepted finishes request. */
import type { CoolDown } from '../../store/types/finish.ts'
import type { Work } from '../work.ts'

// Both by primary key, under the write lock, so that the second of two concurrent throttles sees the first.
const LOOK = `SELECT cool_until, throttles FROM jobmill_queue WHERE id = ?`
const COOL = `UPDATE jobmill_queue SET cool_until = ?, throttles = ? WHERE id = ?`

/**
 * `curved` holds the queues whose backoff this call has already advanced: several throttled jobs of one call
 * count once.
 */
export function coolQueue({ sql, now }: Work, queueId: number, cool: CoolDown, curved: Set<number>): void {
  const { cool_until: until, throttles } = sql(LOOK).get(queueId) as { cool_until: number; throttles: number }
  if ('forMs' in cool) {
    if (now + cool.forMs > until) sql(COOL).run(now + cool.forMs, throttles, queueId)
    return
  }
  if (curved.has(queueId)) return
  curved.add(queueId)
  // Workers that were still running when the upstream refused report the same event.
  if (until > now) return
  // The quiet period starts when the cool-down ends, because throttles during the cool-down are not counted.
  const events = now - until >= cool.quietMs ? 0 : throttles
  sql(COOL).run(now + Math.min(cool.maxMs, cool.baseMs * 2 ** events), events + 1, queueId)
}
