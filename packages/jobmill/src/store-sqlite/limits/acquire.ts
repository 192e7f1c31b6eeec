/**
 * Acquires from limits, one item after the other under the write lock, each with the budget that the previous
 * item left.
 */
import { answer } from '../../job/limit/budget.ts'
import type { PermitOf, AcquireRequest, Acquired } from '../../store/types/limit.ts'
import { budgetOf, findLimit, saveBudget, type StoredLimit } from './limit-row.ts'
import { aliveInstance } from '../instances/liveness.ts'
import { grantPermit, returnPermit } from './permits.ts'
import type { Work } from '../work.ts'

// Uses the primary key.
const PLACE = `SELECT 1 FROM jobmill_limit_waiter WHERE limit_id = ? AND holder = ?`
const TAKE_PLACE = `INSERT OR REPLACE INTO jobmill_limit_waiter (limit_id, holder, since) VALUES (?, ?, ?)`
const LEAVE = `DELETE FROM jobmill_limit_waiter WHERE limit_id = ? AND holder = ?`
const MARK = `UPDATE jobmill_job SET flags = flags | 1 WHERE pk = ?`

// Uses jobmill_job_id; state and token are the fence.
const RUNNING = `SELECT pk, instance_pk FROM jobmill_job WHERE id = ? AND state = 2 AND token = ?`
const RUNNING_ANY = `SELECT 1 FROM jobmill_job WHERE id = ? AND state = 2`

/** The owner of a permit: an attempt, or an instance. */
interface Bond {
  readonly jobPk: number | null
  readonly instancePk: number
}

export function acquire(work: Work, items: readonly AcquireRequest[]): Acquired[] {
  return items.map((item): Acquired => {
    const found = budgetOf(work, item.limit, item.key)
    if ('outcome' in found) return found
    if (found.settings.type === 'rate') return draw(work, found, item)
    const bond = bondOf(work, item)
    if (bond === undefined) return { outcome: 'stale' }
    const acquired = draw(work, found, item)
    if (acquired.outcome !== 'granted') return acquired
    grantPermit(work, found.id, { holder: item.holder, instancePk: bond.instancePk, amount: item.amount })
    if (bond.jobPk !== null) {
      work.sql(MARK).run(bond.jobPk)
      work.leases.drop(item.holder)
    }
    return acquired
  })
}

function draw(work: Work, limit: StoredLimit, { holder, amount, waitUpToMs }: AcquireRequest): Acquired {
  const { sql, now } = work
  const { settings, budget, held } = limit
  const hasPlace = sql(PLACE).get(limit.id, holder) !== undefined
  const { state, answers } = answer(settings, budget, [{ amount, waitUpToMs, hasPlace }], { now, held })
  const [reply] = answers
  if (reply === undefined) throw new Error('answer() must return one answer per request')
  if (reply.outcome === 'never') return reply
  saveBudget(work, limit.id, state)
  if (reply.outcome === 'granted') {
    if (hasPlace) sql(LEAVE).run(limit.id, holder)
    return reply
  }
  if (reply.takesPlace) sql(TAKE_PLACE).run(limit.id, holder, now)
  return { outcome: 'later', inMs: reply.inMs }
}

/** A permit belongs to an attempt or an instance, so one of them must exist. */
function bondOf(work: Work, { holder, token, instance }: AcquireRequest): Bond | undefined {
  if (token === null) {
    const instancePk = aliveInstance(work, instance)
    return instancePk === undefined ? undefined : { jobPk: null, instancePk }
  }
  const job = work.sql(RUNNING).get(holder, token) as { pk: number; instance_pk: number } | undefined
  return job === undefined ? undefined : { jobPk: job.pk, instancePk: job.instance_pk }
}

export function release(work: Work, items: readonly PermitOf[]): boolean[] {
  return items.map((held) => {
    const limit = findLimit(work.sql, held.limit)
    return limit !== undefined && isOwn(work, held) && returnPermit(work, limit.id, held.holder)
  })
}

/** A permit has no token of its own: the permits of a job belong to its running attempt. */
function isOwn({ sql }: Work, { holder, token }: PermitOf): boolean {
  return token === null
    ? sql(RUNNING_ANY).get(holder) === undefined
    : sql(RUNNING).get(holder, token) !== undefined
}
