/** Claims jobs: the first ready jobs over all requested queues become running under one new token. */
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import { byClaimOrder, chooseJobs } from './choose.ts'
import { READY, RUNNING } from '../job-row.ts'
import { aliveInstance } from '../instances/liveness.ts'
import { readyWork } from './open-queues.ts'
import type { ReadyRow } from './ready-row.ts'
import { sweep } from '../connection/runs.ts'
import type { Look, Work } from '../work.ts'

// By primary key, whatever the statistics say. The write lock guarantees that these jobs are still ready. OR
// FAIL: see finish-alike. (UPDATE … RETURNING, per job or for all, took half as long again.)
const take = (rows: string): string => `
  UPDATE OR FAIL jobmill_job NOT INDEXED
  SET state = 2, attempt = attempt + 1, token = ?, instance_pk = ?, started_at = ?, cancel_reason = NULL, progress = NULL,
    log = NULL, permits = ?
  WHERE ${rows}`
const TAKE_RUN = take(`pk BETWEEN ? AND ?`)
const TAKE_LIST = take(`pk IN (SELECT value FROM json_each(?))`)

export function claim(work: Work, request: ClaimRequest): Lease[] {
  const instancePk = aliveInstance(work, request.instance)
  if (instancePk === undefined) return []
  const { plain, permitted } = chooseJobs(work, request, instancePk)
  if (plain.length + permitted.length === 0) return []
  const token = work.counters.takeToken(work.now)
  takeAll(work, plain, token, instancePk, 0)
  takeAll(work, permitted, token, instancePk, 1)
  for (const row of plain) remember(work, row, token, request.instance)
  const rows = permitted.length === 0 ? plain : [...plain, ...permitted]
  return rows.toSorted(byClaimOrder).map((row) => leaseOf(work, row, token))
}

function takeAll(
  { sql, now, moves }: Work,
  rows: readonly ReadyRow[],
  token: number,
  instancePk: number,
  permits: 0 | 1,
): void {
  for (const [queueId, n] of countByQueue(rows)) moves.move(queueId, READY, RUNNING, n)
  sweep(
    rows.map(({ pk }) => pk),
    {
      run: (first, last) => Number(sql(TAKE_RUN).run(token, instancePk, now, permits, first, last).changes),
      list: (pks) => Number(sql(TAKE_LIST).run(token, instancePk, now, permits, pks).changes),
    },
  )
}

function countByQueue(rows: readonly ReadyRow[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const row of rows) counts.set(row.queue_id, (counts.get(row.queue_id) ?? 0) + 1)
  return counts
}

/** Caches the lease for the finish. Jobs whose finish affects other rows are not cached. */
function remember({ leases, now }: Work, row: ReadyRow, token: number, instance: string): void {
  if (row.order_key !== null || row.dedupe_key !== null) return
  const { pk, queue_id: queueId, attempt } = row
  leases.give(row.id, {
    pk,
    queueId,
    token,
    attempt: attempt + 1,
    startedAt: now,
    instance,
    tagged: row.tags !== null,
  })
}

/** Whether a claim would find something, without the write lock. */
export function mayClaim(look: Look, request: ClaimRequest): boolean {
  if (aliveInstance(look, request.instance) === undefined) return false
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
    maxAttempts: row.max_attempts,
    crashes: row.crashes,
    payload: row.payload,
    timeoutMs: row.timeout_ms,
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    metadata: row.metadata,
    orderKey: row.order_key,
    enqueuedAt: row.enqueued_at,
    readyAt: row.ready_at,
    waitedMs: now - row.ready_at,
  }
}
