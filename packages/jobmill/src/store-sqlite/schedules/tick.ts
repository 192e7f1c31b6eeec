/** Serves ticks: enqueues the job, records the tick, and stores the next one, all in one transaction. */
import type { Tick, Ticked, TickOutcome, TickRecord } from '../../store/types/schedule.ts'
import { isCurrent } from '../../store/stored-schedule.ts'
import { enqueue } from '../enqueue/enqueue.ts'
import { findSchedule, saveSchedule } from './schedules.ts'
import type { Look, Work } from '../work.ts'

// Uses the primary key, which ensures that a tick is served once. Concurrent attempts wait for the write
// lock.
const SERVED = `SELECT 1 FROM jobmill_tick WHERE schedule = ? AND at = ?`
const SERVE = `INSERT INTO jobmill_tick (schedule, at, outcome, job, served_at) VALUES (?, ?, ?, ?, ?)`

// Scans a range of the primary key backward.
const NEWEST = `
  SELECT at, outcome, job, served_at AS servedAt FROM jobmill_tick WHERE schedule = ? ORDER BY at DESC LIMIT ?`

// Reads the front of jobmill_schedule_due.
const NEXT = `
  SELECT due_at FROM jobmill_schedule INDEXED BY jobmill_schedule_due
  WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`

export function tick(work: Work, ticks: readonly Tick[]): Ticked[] {
  return ticks.map((one) => {
    const schedule = findSchedule(work.sql, one.schedule)
    if (schedule === undefined || !isCurrent(schedule, one))
      return { schedule: one.schedule, accepted: false, fired: [] }
    const fired = one.fires.flatMap((fire) => serve(work, one.schedule, fire))
    const last = fired.at(-1)
    saveSchedule(work.sql, {
      ...schedule,
      planned: true,
      nextAt: one.nextAt,
      missed: schedule.missed + one.missed,
      error: null,
      ...(last === undefined ? {} : { lastAt: last.at, lastOutcome: last.outcome, lastJob: last.job }),
    })
    return { schedule: one.schedule, accepted: true, fired }
  })
}

/** Empty when this tick was served before. */
function serve(work: Work, schedule: string, { at, job }: Tick['fires'][number]): Ticked['fired'] {
  if (work.sql(SERVED).get(schedule, at) !== undefined) return []
  return enqueue(work, [job]).map(({ id, outcome }) => {
    const result: TickOutcome = outcome === 'duplicate' ? 'skipped' : 'enqueued'
    work.sql(SERVE).run(schedule, at, result, id, work.now)
    return { at, outcome: result, job: id }
  })
}

export function ticks({ sql }: Look, schedule: string, limit: number): TickRecord[] {
  return sql(NEWEST).all(schedule, limit) as TickRecord[]
}

/** When there is a schedule to plan or to serve: 0 for now, null for none. */
export function scheduleInMs({ sql, now }: Look): number | null {
  const next = sql(NEXT).get() as { due_at: number } | undefined
  return next === undefined ? null : Math.max(0, next.due_at - now)
}
