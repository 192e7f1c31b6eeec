/**
 * The heartbeat: calls a database function that renews an instance and returns what an idle instance needs to
 * know.
 */
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import type { Row } from '../connection/connection.ts'
import { ask, type Context, listOf } from '../context.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'
import { FIRST_DUE } from '../claim/due-cursor.ts'
import { limitedQueues } from '../claim/limited.ts'
import { kindsKey, rangeColumns } from '../claim/scan-cursors.ts'
import { ROWS_OF_NAMES } from '../names/names.ts'

const HEARTBEAT = `SELECT * FROM jobmill.heartbeat($1)`
const HEARTBEAT_AND_NAMES = `SELECT p.*, ${ROWS_OF_NAMES} AS names FROM jobmill.heartbeat($1) AS p`

/**
 * A separate statement: if a renewal or reap ran concurrently, the first snapshot is too old to show which.
 */
const STILL_ALIVE = `
WITH ${GIVEN_CTE}
SELECT i.id IS NOT NULL AS alive, i.requested, i.requested_by,
       (SELECT json_agg(d.name ORDER BY d.name COLLATE "C")
          FROM jobmill.duty AS d, json_to_recordset(g.p -> 'duties') AS x(name text)
         WHERE d.name = x.name AND d.leader = (g.p ->> 'instance')::uuid AND d.expires_at > ${NOW}) AS leads
  FROM given AS g
  LEFT JOIN jobmill.instance AS i ON i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL AND i.expires_at > g.now`

export async function renew(context: Context, request: HeartbeatRequest): Promise<Heartbeat> {
  const { instance, leaseMs: lease_ms, renewEveryMs: every_ms, queues, kinds } = request
  const bids = request.duties.map(({ succeededAgoMs: ago_ms, ...bid }) => ({ ...bid, ago_ms }))
  // Each duty once.
  const duties = [...new Map(bids.map((bid) => [bid.name, bid])).values()]
  const { fields, evaluate } = readHeartbeat(context, request)
  const given = { instance, lease_ms, every_ms, queues, kinds, duties, ...fields }
  const isLook = context.names.isLookDue()
  const [row = {}] = await ask(context, isLook ? HEARTBEAT_AND_NAMES : HEARTBEAT, given)
  const isReady = evaluate(row)
  if (isLook) context.names.compare(row['names'])
  const me = row['alive'] === true ? row : ((await ask(context, STILL_ALIVE, given))[0] ?? {})
  const { alive, leads } = me
  const limited = limitedQueues(listOf<Row>(row['limited']), row['now'] as number)
  const open = limited.filter((one) => one.available > 0)
  const waits = limited.flatMap(({ available, nextInMs }) => (available === 0 ? (nextInMs ?? []) : []))
  return {
    alive: alive === true,
    cancels: listOf(row['cancels']),
    settingsVersion: row['settings_version'] as number,
    membersVersion: row['members_version'] as number,
    leads: alive === true ? listOf(leads) : [],
    slots: listOf(row['slots']),
    ready: isReady || open.some((one) => one.ready),
    quarantined: row['quarantined'] === true || open.some((one) => one.quarantined),
    stageInMs: row['stage_in_ms'] as number | null,
    budgetInMs: waits.length === 0 ? null : Math.min(...waits),
    scheduleInMs: row['schedule_in_ms'] as number | null,
    expired: row['expired'] === true,
    unrolled: row['unrolled'] === true,
    requested: (me['requested'] ?? null) as Heartbeat['requested'],
    requestedBy: (me['requested_by'] ?? null) as Heartbeat['requestedBy'],
  }
}

/** The result of jobmill.any_ready, as JSON text. */
interface AnyReady {
  readonly is_there: boolean
  /** The id of each queue; null for queues that were not read. */
  readonly open: readonly (number | null)[]
  readonly last_seq: number
  readonly pages: number
  readonly ms: number
}

/**
 * How the heartbeat checks for ready and due jobs: it reads like a claim, and skips rows that a recent claim
 * or heartbeat had to read at length. Returns the fields of the parameter, and a function that evaluates the
 * reply: whether a job is ready.
 */
function readHeartbeat(
  { claimCursors, due, names, platform }: Context,
  { queues, kinds }: HeartbeatRequest,
): { readonly fields: object; readonly evaluate: (row: Row) => boolean } {
  const key = kindsKey(names.current, kinds)
  const began = platform.monotonic()
  const looks = queues.map((queue) => claimCursors.peek(queue, key, began))
  const since = due.from(began)
  const [range_queues, range_priorities, range_seqs, range_ends] = rangeColumns(looks)
  return {
    fields: { range_queues, range_priorities, range_seqs, range_ends, since: since ?? FIRST_DUE },
    evaluate({ look: reply, next_due: nextDue, due_ms: dueMs, now: at }) {
      // The next due job may be far in the future, and an earlier one may still be added.
      const upTo = Math.min(Number(nextDue ?? at), Number(at))
      due.record({ from: since, upTo, ms: Number(dueMs), now: began })
      if (typeof reply !== 'string') return false
      const { is_there: isThere, open, last_seq: lastSeq, pages, ms } = JSON.parse(reply) as AnyReady
      // If a job is ready, the next claim raises the cursors.
      if (isThere) return true
      const now = platform.monotonic()
      for (const [n, queue] of queues.entries()) {
        if ((open[n] ?? null) === null) continue
        const wasFull = looks[n]?.isFull === true
        claimCursors.record(queue, key, now, { wasFull, lastSeq, pages, ms })
      }
      return false
    },
  }
}
