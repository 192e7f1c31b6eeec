/**
 * How a heartbeat checks for ready and due jobs. It reads like a claim, and skips rows that a recent claim or
 * heartbeat had to read at length.
 */
import type { HeartbeatRequest } from '../../store/types/instance.ts'
import type { Row } from '../connection/connection.ts'
import type { Context } from '../context.ts'
import { FIRST_DUE } from '../claim/due-floor.ts'
import { kindsKey, rangeColumns } from '../claim/floors.ts'

/** The result of jobmill.any_ready, as JSON text. */
interface AnyReady {
  readonly is_there: boolean
  /** The id of each queue; null for queues that were not read. */
  readonly open: readonly (number | null)[]
  readonly last_seq: number
  readonly pages: number
  readonly ms: number
}

export function isReady(reply: unknown): boolean {
  return typeof reply === 'string' && (JSON.parse(reply) as AnyReady).is_there
}

/** The fields of the parameter, and a function that evaluates the reply. */
export function readHeartbeat(
  { floors, due, names, platform }: Context,
  { queues, kinds }: HeartbeatRequest,
): { readonly fields: string; readonly evaluate: (row: Row) => void } {
  const key = kindsKey(names.current, kinds)
  const began = platform.monotonic()
  const looks = queues.map((queue) => floors.peek(queue, key, began))
  const since = due.from(began)
  const [range_queues, range_priorities, range_seqs, range_ends] = rangeColumns(looks)
  return {
    fields: JSON.stringify({
      range_queues,
      range_priorities,
      range_seqs,
      range_ends,
      since: since ?? FIRST_DUE,
    }).slice(1, -1),
    evaluate(row) {
      const { look: reply, next_due: nextDue, due_ms: dueMs, now: at } = row
      // The next due job may be far in the future, and an earlier one may still be added.
      const upTo = Math.min(Number(nextDue ?? at), Number(at))
      due.record({ from: since, upTo, ms: Number(dueMs), now: began })
      if (typeof reply !== 'string') return
      const { is_there: isThere, open, last_seq: lastSeq, pages, ms } = JSON.parse(reply) as AnyReady
      // If a job is ready, the following claim finds out more.
      if (isThere) return
      const now = platform.monotonic()
      for (const [at, queue] of queues.entries()) {
        if ((open[at] ?? null) === null) continue
        const wasFull = looks[at]?.isFull === true
        floors.record(queue, key, now, { wasFull, upTo: new Map(), lastSeq, lanes: [], leases: 0, pages, ms })
      }
    },
  }
}
