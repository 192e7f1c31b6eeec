/**
 * Finishes many jobs whose handler returned and whose lease is cached: the most common case. Nothing is read:
 * the fence is part of the statements. If they match fewer rows than there are jobs, every row is read and
 * finished individually (see LeaseOutdated).
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { type Outcome, outcomeCode } from '../../job/attempt/outcome.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import { recordAlike } from './attempts.ts'
import { DONE, RUNNING } from '../job-row.ts'
import { type KnownLease, LeaseOutdated } from '../claim/leases.ts'
import { sweep } from '../connection/runs.ts'
import type { Work } from '../work.ts'

// All by primary key, whatever the statistics say. Jobs with permits, a log or a long history are finished
// individually. OR FAIL avoids the page copies that SQLite needs to undo a single statement: a failure rolls
// back the whole transaction anyway.
const FENCE = `state = 2 AND token = ? AND permits = 0 AND log IS NULL`
const SHORT = `records < ${DEFAULTS.historyPerJob}`
const RUN = `pk BETWEEN ? AND ?`
const LIST = `pk IN (SELECT value FROM json_each(?))`
const end = (rows: string): string => `
  UPDATE OR FAIL jobmill_job NOT INDEXED SET state = 3, ended_at = ?, result = ?, records = records + 1
  WHERE ${rows} AND ${FENCE} AND ${SHORT}`
const END_RUN = end(RUN)
const END_LIST = end(LIST)
// Results by primary key, as one JSON object.
const END_EACH = `
  UPDATE OR FAIL jobmill_job NOT INDEXED SET state = 3, ended_at = ?, result = one.value, records = records + 1
  FROM json_each(?) AS one WHERE jobmill_job.pk = CAST(one.key AS INTEGER) AND ${FENCE} AND ${SHORT}`
const forget = (rows: string): string =>
  `DELETE FROM jobmill_job NOT INDEXED WHERE ${rows} AND ${FENCE} AND records = 0 AND tags IS NULL`
const FORGET_RUN = forget(RUN)
const FORGET_LIST = forget(LIST)

/** Larger results gain nothing from batching, and would make the JSON text too long. */
const LONGEST_RESULT = 4_096

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
      // However this item ends, the cached lease is no longer valid.
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
  const { like, jobs } = group
  const written = group.forget ? forgetAll(work, group) : endAll(work, group)
  if (written !== jobs.length) throw new LeaseOutdated()
  work.moves.move(like.queueId, RUNNING, group.forget ? null : DONE, jobs.length)
  if (!group.forget) record(work, group)
}

function endAll({ sql, now }: Work, { like, jobs }: Group): number {
  const result = jobs[0]?.result ?? null
  if (jobs.some((job) => job.result !== result)) {
    const results = jobs.map((job) => `"${job.lease.pk}":${JSON.stringify(job.result)}`)
    return Number(sql(END_EACH).run(now, `{${results.join(',')}}`, like.token).changes)
  }
  return sweep(pksOf(jobs), {
    run: (first, last) => Number(sql(END_RUN).run(now, result, first, last, like.token).changes),
    list: (pks) => Number(sql(END_LIST).run(now, result, pks, like.token).changes),
  })
}

function forgetAll({ sql }: Work, { like, jobs }: Group): number {
  return sweep(pksOf(jobs), {
    run: (first, last) => Number(sql(FORGET_RUN).run(first, last, like.token).changes),
    list: (pks) => Number(sql(FORGET_LIST).run(pks, like.token).changes),
  })
}

function record({ sql, now }: Work, { like, outcome, jobs }: Group): void {
  const byStart = new Map<number, number[]>()
  for (const { lease, ranMs } of jobs) {
    const startedAt =
      ranMs === undefined ? lease.startedAt : Math.max(lease.startedAt, now - Math.round(ranMs))
    const same = byStart.get(startedAt)
    if (same === undefined) byStart.set(startedAt, [lease.pk])
    else same.push(lease.pk)
  }
  recordAlike(sql, byStart, {
    token: like.token,
    attempt: like.attempt,
    outcome: outcomeCode(outcome),
    endedAt: now,
    wentTo: DONE,
    instance: like.instance,
  })
}

function pksOf(jobs: readonly Ended[]): number[] {
  return jobs.map(({ lease }) => lease.pk)
}
