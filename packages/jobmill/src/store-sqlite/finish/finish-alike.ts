/**
 * Finishes many jobs whose handler returned and whose lease is cached: the most common case. Nothing is read:
 * the fence is part of the statements. If they match fewer rows than there are jobs, every row is read and
 * finished individually (see LeaseOutdated).
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { type Outcome, outcomeCode } from '../../job/attempt/outcome.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import { DONE, RUNNING } from '../job-row.ts'
import { type KnownLease, LeaseOutdated } from '../claim/leases.ts'
import { sweep, sweepOf } from '../connection/runs.ts'
import type { Work } from '../work.ts'

// All use the primary key, whatever the statistics say. Jobs with permits, steps, events, a log or a long
// history are finished individually. OR FAIL avoids the page copies that SQLite needs to undo a single
// statement. They are not needed, because a failure rolls back the whole transaction.
const FENCE = `state = 2 AND token = ? AND flags = 0 AND log IS NULL`
const SHORT = `records < ${DEFAULTS.historyPerJob}`
const END = sweepOf(
  (rows) => `
  UPDATE OR FAIL jobmill_job NOT INDEXED SET state = 3, ended_at = ?, result = ?, records = records + 1
  WHERE ${FENCE} AND ${SHORT} AND ${rows}`,
)
// Results by primary key, as one JSON object.
const END_EACH = `
  UPDATE OR FAIL jobmill_job NOT INDEXED SET state = 3, ended_at = ?, result = one.value, records = records + 1
  FROM json_each(?) AS one WHERE jobmill_job.pk = CAST(one.key AS INTEGER) AND ${FENCE} AND ${SHORT}`
const FORGET = sweepOf(
  (rows) => `DELETE FROM jobmill_job NOT INDEXED WHERE ${FENCE} AND records = 0 AND tags IS NULL AND ${rows}`,
)

// Binding shared values once takes a third of the time of binding them for every row. Jobs that started at
// one instant are passed as a JSON array of primary keys; otherwise an object maps each primary key to its
// start.
const addAlike = (pk: string, startedAt: string): string => `
  INSERT OR FAIL INTO jobmill_attempt (token, attempt, outcome, ended_at, went_to, instance, job_pk, started_at)
  SELECT ?, ?, ?, ?, ?, ?, ${pk}, ${startedAt} FROM json_each(?) AS one`
const ADD_AT_ONCE = addAlike('one.value', '?')
const ADD_ALIKE = addAlike('CAST(one.key AS INTEGER)', 'one.value')

/** More instants than this are cheaper in one object. */
const FEW_INSTANTS = 4

/** Larger results gain nothing from batching, and would make the JSON text too long. */
export const LONGEST_RESULT = 4_096

const NONE: readonly never[] = []

interface Ended {
  readonly lease: KnownLease
  readonly result: string | null
  readonly ranMs: number | undefined
}

/** Jobs that differ only in their rows, results and run times. */
interface Group {
  readonly like: KnownLease
  readonly outcome: Outcome
  readonly forget: boolean
  readonly jobs: Ended[]
}

/**
 * The replies for the jobs that it finished; undefined for the others, including the second item of a
 * duplicated job.
 */
export function finishAlike(work: Work, items: readonly Finish[]): (Finished | undefined)[] {
  const groups: Group[] = []
  const replies = items.map((item): Finished | undefined => {
    const { id, token, transition, outcome, ranMs } = item
    const lease = isPlain(item) ? work.leases.take(id, token) : undefined
    if (lease === undefined || outcome === null || transition.to !== 'done') {
      // Whatever happens to this item, the cached lease is no longer valid.
      work.leases.drop(id)
      return undefined
    }
    const forgets = transition.forget === true
    if (forgets && lease.tagged) return undefined
    groupFor(groups, lease, outcome, forgets).push({ lease, result: transition.result, ranMs })
    return { id, accepted: true, state: 'done', followUps: NONE }
  })
  for (const group of groups) write(work, group)
  return replies
}

function isPlain({ transition, outcome, error, log, cool, followUps }: Finish): boolean {
  return (
    transition.to === 'done' &&
    outcome !== null &&
    error === undefined &&
    log === undefined &&
    cool === undefined &&
    (followUps === undefined || followUps.length === 0) &&
    (transition.result?.length ?? 0) <= LONGEST_RESULT
  )
}

function groupFor(groups: Group[], lease: KnownLease, outcome: Outcome, forget: boolean): Ended[] {
  // Newest first: it nearly always matches.
  for (let at = groups.length - 1; at >= 0; at -= 1) {
    const group = groups[at]
    if (
      group?.outcome === outcome &&
      group.forget === forget &&
      group.like.token === lease.token &&
      group.like.attempt === lease.attempt &&
      group.like.queueId === lease.queueId
    )
      return group.jobs
  }
  const jobs: Ended[] = []
  groups.push({ like: lease, outcome, forget, jobs })
  return jobs
}

function write(work: Work, group: Group): void {
  const { like, forget, jobs } = group
  const pks = jobs.map(({ lease }) => lease.pk)
  const written = forget ? sweep(work.sql, FORGET, [like.token], pks) : endAll(work, group, pks)
  if (written !== jobs.length) throw new LeaseOutdated()
  work.moves.move(like.queueId, RUNNING, forget ? null : DONE, jobs.length)
  if (!forget) record(work, group)
}

function endAll({ sql, now }: Work, { like, jobs }: Group, pks: readonly number[]): number {
  const result = jobs[0]?.result ?? null
  if (jobs.every((job) => job.result === result)) return sweep(sql, END, [now, result, like.token], pks)
  const results = jobs.map((job) => `"${job.lease.pk}":${JSON.stringify(job.result)}`)
  return Number(sql(END_EACH).run(now, `{${results.join(',')}}`, like.token).changes)
}

/** Appends an attempt to each history, which is not full. */
function record({ sql, now }: Work, { like, outcome, jobs }: Group): void {
  const starts = jobs.map(({ lease, ranMs }) => ({
    pk: lease.pk,
    at: ranMs === undefined ? lease.startedAt : Math.max(lease.startedAt, now - Math.round(ranMs)),
  }))
  const byStart = Map.groupBy(starts, ({ at }) => at)
  const shared = [like.token, like.attempt, outcomeCode(outcome), now, DONE, like.instance]
  if (byStart.size <= FEW_INSTANTS) {
    for (const [startedAt, same] of byStart)
      sql(ADD_AT_ONCE).run(...shared, startedAt, JSON.stringify(same.map(({ pk }) => pk)))
    return
  }
  sql(ADD_ALIKE).run(...shared, `{${starts.map(({ pk, at }) => `"${pk}":${at}`).join(',')}}`)
}
