/** Promotes jobs whose group has room and a token. */
import { HAS_PASSED, READY, SCHEDULED } from '../job-row.ts'
import type { Work } from '../work.ts'
import { type GroupRow, joinGroup, placeIn, queueGroups, startOf } from './turns.ts'

// Reads the front of jobmill_group_check.
const DUE = `SELECT id, queue_id, name FROM jobmill_group INDEXED BY jobmill_group_check
  WHERE check_at IS NOT NULL AND check_at <= ? ORDER BY check_at LIMIT ?`
/** When `stage` should look at a group next. */
export const NEXT_CHECK = `SELECT check_at FROM jobmill_group INDEXED BY jobmill_group_check WHERE check_at IS NOT NULL ORDER BY check_at LIMIT 1`
const GROUP = `SELECT * FROM jobmill_group WHERE id = ?`
// Both read jobmill_job_group.
const WAITING = `SELECT pk FROM jobmill_job INDEXED BY jobmill_job_group
  WHERE queue_id = ? AND group_name = ? AND state = 0 AND in_order_queue = 2 ORDER BY seq LIMIT ?`
const PROMOTE = `UPDATE jobmill_job SET state = 1, in_order_queue = 0, seq = ?, ready_at = ?, flags = flags | ${HAS_PASSED} WHERE pk = ?`
const SAVE = `UPDATE jobmill_group SET used_until = ?, check_at = ? WHERE id = ?`

interface DueGroup {
  readonly id: number
  readonly queue_id: number
  readonly name: string
}

/** Returns the queues of the promoted jobs, once per job, and whether there may be more. */
export function stageGroups(work: Work, limit: number): { queues: number[]; more: boolean } {
  const due = work.sql(DUE).all(work.now, limit) as DueGroup[]
  const queues: number[] = []
  for (const group of due) {
    const promoted = promote(work, group, limit - queues.length)
    for (let n = 0; n < promoted; n += 1) queues.push(group.queue_id)
    if (queues.length >= limit) break
  }
  return { queues, more: due.length >= limit || queues.length >= limit }
}

function promote(work: Work, { id, queue_id: queueId, name }: DueGroup, most: number): number {
  const { sql, now, moves, counters } = work
  const group = sql(GROUP).get(id) as GroupRow
  const queue = queueGroups(work, queueId)
  const concurrency = group.concurrency ?? queue?.group_concurrency ?? null
  const tokens = tokensOf(group, queue, now)
  const free = group.paused === 1 ? 0 : concurrency === null ? most : concurrency - group.running
  const rows = sql(WAITING).all(queueId, name, Math.max(0, Math.min(free, tokens.free, most)) + 1) as {
    pk: number
  }[]
  const room = Math.max(0, Math.min(free, tokens.free, most, rows.length))
  const turn = { waits: true, start: queue?.group_fair === 1 ? startOf(id) : null }
  for (const { pk } of rows.slice(0, room)) sql(PROMOTE).run(placeIn(turn, counters.take('seq')), now, pk)
  if (room > 0) {
    moves.move(queueId, SCHEDULED, READY, room)
    joinGroup(work, queueId, name, room)
  }
  const hasMore = rows.length > room
  const usedUntil = tokens.after(room)
  const checkAt = !hasMore ? null : room >= most ? 0 : free > tokens.free ? tokens.nextAt(room) : null
  sql(SAVE).run(usedUntil, checkAt, id)
  return room
}

/** The tokens of a rate, in microseconds. Unused tokens are kept for one period. */
export function tokensOf(group: GroupRow | undefined, queue: ReturnType<typeof queueGroups>, now: number) {
  const own = group?.rate ?? null
  const rate = own ?? queue?.group_rate ?? null
  const perMs = (own === null ? queue?.group_rate_per_ms : group?.rate_per_ms) ?? 1
  const usedUntil = group?.used_until ?? 0
  if (rate === null) return { free: Number.MAX_SAFE_INTEGER, after: () => usedUntil, nextAt: () => null }
  const each = (perMs * 1_000) / rate
  const used = Math.max(usedUntil, (now - perMs) * 1_000)
  const after = (jobs: number): number => used + Math.ceil(jobs * each)
  return {
    free: Math.max(0, Math.floor((now * 1_000 - used) / each)),
    after,
    nextAt: (jobs: number): number => Math.ceil((after(jobs) + each) / 1_000),
  }
}
