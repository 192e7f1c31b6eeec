/** tick: serves planned ticks, each once, with their jobs. */
import type { Tick, Ticked, TickRecord } from 'jobmill/store'
import { enqueue } from '../jobs/enqueue.ts'
import { liveOf, scheduleOf } from './schedules.ts'
import type { OracleSchedule, OracleState } from '../state.ts'

export function tick(state: OracleState, now: number, ticks: readonly Tick[]): Ticked[] {
  return ticks.map((one) => {
    const schedule = scheduleOf(state, one.schedule)
    if (schedule === undefined || !isAccepted(schedule, one))
      return { schedule: one.schedule, accepted: false, fired: [] }
    schedule.nextAt = one.nextAt
    schedule.planned = true
    schedule.missed += one.missed
    schedule.error = null
    const fired = one.fires.flatMap((fire) => serve(state, now, one.schedule, fire))
    const last = fired.at(-1)
    if (last !== undefined)
      Object.assign(schedule, { lastAt: last.at, lastOutcome: last.outcome, lastJob: last.job })
    return { schedule: one.schedule, accepted: true, fired }
  })
}

function isAccepted(schedule: OracleSchedule, { revision, from }: Tick): boolean {
  if (liveOf(schedule).paused || schedule.revision !== revision) return false
  return from === null ? !schedule.planned : schedule.nextAt === from
}

/** Does nothing when this tick was already served. */
function serve(
  state: OracleState,
  now: number,
  schedule: string,
  { at, job }: Tick['fires'][number],
): Ticked['fired'] {
  if (state.ticks.some((tick) => tick.schedule === schedule && tick.at === at)) return []
  return enqueue(state, now, [job]).map(({ id, outcome }) => {
    const served = { at, outcome: outcome === 'duplicate' ? 'skipped' : 'enqueued', job: id } as const
    state.ticks.push({ schedule, ...served, servedAt: now })
    return served
  })
}

export function readTicks(state: OracleState, schedule: string, limit: number): TickRecord[] {
  return state.ticks
    .filter((tick) => tick.schedule === schedule)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, limit)
    .map(({ schedule: _, ...tick }) => tick)
}

/** For the heartbeat: 0 when a schedule is to be planned or served now, null when nothing is due. */
export function scheduleInMs(state: OracleState, now: number): number | null {
  const active = [...state.schedules.values()].filter((one) => !one.deleted && !liveOf(one).paused)
  if (active.some(({ planned }) => !planned)) return 0
  const nexts = active.flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]))
  return nexts.length === 0 ? null : Math.max(0, Math.min(...nexts) - now)
}
