/** Claims jobs: the first ready jobs over all requested queues become running under one new token. */
import { spreadGroups } from '../../store/take-turns.ts'
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import type { Live } from '../live.ts'
import { notificationsOf } from '../notifier.ts'
import { chooseJobs } from './choose.ts'
import { byClaimOrder, type ReadyRow } from './ready-row.ts'
import { FREES_KEY, HAS_PERMITS, HAS_STEPS, IS_CHILD, READY, RUNNING, tagsIn } from '../job-row.ts'
import { freeKey } from '../enqueue/dedupe.ts'
import { claimingInstance } from '../instances/liveness.ts'
import { readyWork } from './open-queues.ts'
import { sweep, sweepOf } from '../connection/runs.ts'
import type { Look, Work } from '../work.ts'

// Uses the primary key, whatever the statistics say. The write lock guarantees that these jobs are still
// ready. finish-alike.ts explains OR FAIL. UPDATE … RETURNING, for each job or for all, takes 50% longer.
const TAKE = sweepOf(
  (rows) => `
  UPDATE OR FAIL jobmill_job NOT INDEXED
  SET state = 2, attempt = attempt + 1, token = ?, instance_pk = ?, started_at = ?, cancel_reason = NULL, progress = NULL,
    log = NULL, flags = (flags & ~${HAS_PERMITS | FREES_KEY}) | ?
  WHERE ${rows}`,
)

/**
 * From this claim size on, a read before the next claim costs more than one unnecessary lock at the end of
 * the queue.
 */
const MANY = 100

/** First reads without the write lock, so that idle processes do not compete for the file. */
export async function claimIfReady(live: Live, request: ClaimRequest): Promise<Lease[]> {
  const queues = request.queues.map(({ queue }) => queue)
  if (live.writer.idle && !live.mayHaveMore) {
    const empty = await live.read((look) =>
      mayClaim(look, request) ? undefined : notificationsOf(look, queues),
    )
    if (empty !== undefined) {
      live.notifier.markSeen(empty)
      return []
    }
  }
  const { leases, notifications } = await live.writer.write(request.limit, (work) => {
    const leases = claim(work, request)
    // Fewer than requested: the queues are empty for this instance, so notifications up to now are handled.
    return { leases, notifications: leases.length < request.limit ? notificationsOf(work, queues) : [] }
  })
  live.mayHaveMore = leases.length >= MANY && leases.length === request.limit
  live.notifier.markSeen(notifications)
  return leases
}

function claim(work: Work, request: ClaimRequest): Lease[] {
  const instancePk = claimingInstance(work, request.instance)
  if (instancePk === undefined) return []
  const { plain, permitted, fair } = chooseJobs(work, request, instancePk)
  if (plain.length + permitted.length === 0) return []
  const token = work.counters.takeToken(work.now)
  takeAll(work, plain, token, instancePk, 0)
  takeAll(work, permitted, token, instancePk, HAS_PERMITS)
  for (const row of plain) remember(work, row, token, request.instance)
  const rows = permitted.length === 0 ? plain : [...plain, ...permitted]
  for (const row of rows) if ((row.flags & FREES_KEY) !== 0) freeKey(work.sql, row)
  const leases = rows.toSorted(byClaimOrder).map((row) => leaseOf(work, row, token))
  return fair.size === 0 ? leases : spreadGroups(leases, (queue) => fair.has(queue))
}

function takeAll(
  { sql, now, moves }: Work,
  rows: readonly ReadyRow[],
  token: number,
  instancePk: number,
  flags: number,
): void {
  for (const [queueId, { length }] of Map.groupBy(rows, (row) => row.queue_id))
    moves.move(queueId, READY, RUNNING, length)
  const pks = rows.map(({ pk }) => pk)
  sweep(sql, TAKE, [token, instancePk, now, flags], pks)
}

/** Caches the lease for the finish. Jobs whose finish affects other rows are not cached. */
function remember({ leases, now }: Work, row: ReadyRow, token: number, instance: string): void {
  if (row.orderKey !== null || row.dedupe_key !== null || row.flags !== 0) return
  const { pk, queue_id: queueId, tags } = row
  const [attempt, tagged] = [row.attempt + 1, tags !== null]
  leases.give(row.id, { pk, queueId, token, attempt, startedAt: now, instance, tagged })
}

/** Whether a claim would find something, without the write lock. */
function mayClaim(look: Look, request: ClaimRequest): boolean {
  if (claimingInstance(look, request.instance) === undefined) return false
  const queues = request.queues.filter(({ room }) => room > 0).map(({ queue }) => queue)
  const { ready, quarantined } = readyWork(look, queues, request.kinds)
  return request.quarantined === 'only' ? quarantined : ready
}

function leaseOf({ now, names }: Look, row: ReadyRow, token: number): Lease {
  return {
    id: row.id,
    token,
    kind: names.kindName(row.kind_id),
    queue: names.queueName(row.queue_id),
    priority: row.priority,
    attempt: row.attempt + 1,
    maxAttempts: row.maxAttempts,
    crashes: row.crashes,
    payload: row.payload,
    timeoutMs: row.timeoutMs,
    tags: tagsIn(row.tags),
    metadata: row.metadata,
    orderKey: row.orderKey,
    group: row.group,
    enqueuedAt: row.enqueuedAt,
    readyAt: row.readyAt,
    waitedMs: now - row.readyAt,
    ...((row.flags & HAS_STEPS) !== 0 && { hasSteps: true as const }),
    ...((row.flags & IS_CHILD) !== 0 && { isChild: true as const }),
  }
}
