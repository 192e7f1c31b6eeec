/** `mill.schedules`: manages schedules at run time, from any process. */
import { type Duration, durationMs } from '../../job/duration.ts'
import { invalidValue } from '../../job/errors.ts'
import { checkObjectKeys, didYouMean } from '../../job/options/known-keys.ts'
import { checkSoughtName, checkString } from '../../job/names.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { ScheduleChange } from '../../job/schedule/schedule-change.ts'
import {
  CREATE_KEYS,
  prepareSchedule,
  prepareScheduleChange,
  type RequiredPayload,
  type ScheduleFields,
  type ScheduleOptions,
  timingOf,
} from '../../job/schedule/schedule-options.ts'
import { checkZone } from '../../job/when/zone-clock.ts'
import { describeWhen } from '../../job/when/describe-when.ts'
import { nextRuns } from '../../job/when/instants.ts'
import type { JobState } from '../../job/state.ts'
import type { FullStore } from '../../store/store.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import type { ScheduleRecord, TickOutcome, TickRecord } from '../../store/types/schedule.ts'
import type { MillTools } from '../tools.ts'
import { scheduledJob } from '../../upkeep/plan-ticks.ts'
import { byOf, type ByOption } from './overrides.ts'
import { type ScheduleView, scheduleView } from './schedule-view.ts'

/** `skipped`: the job with this id is still waiting or running, and the schedule does not overlap. */
interface Triggered {
  readonly outcome: TickOutcome
  readonly job: string
}

export type NewSchedule<Input> = Omit<ScheduleFields<Input>, 'version'> & RequiredPayload<Input>

export interface Schedules {
  /** Sorted by name. */
  list(): Promise<ScheduleView[]>
  /** Like `list`, with the latest runs of each schedule and the states of their jobs. */
  listWithStates(): Promise<ListedSchedule[]>
  get(name: string): Promise<ScheduleView | null>
  /**
   * Throws SCHEDULE_EXISTS if the name is in use. If it replaces a deleted schedule of code, given options
   * and differences from code are overrides.
   */
  create<Input>(options: NewSchedule<Input>, how?: ByOption): Promise<ScheduleView>
  /** Overrides the definition in code. A deploy does not undo it. */
  change(name: string, change: ScheduleChange, how?: ByOption): Promise<ScheduleView>
  /** Stops planning ticks. Ticks missed during the pause are skipped. */
  pause(name: string, how?: ByOption): Promise<ScheduleView>
  resume(name: string, how?: ByOption): Promise<ScheduleView>
  /**
   * Enqueues one job now, even if the schedule is paused. Planned ticks are unchanged. With a `delay` the job
   * starts later, so that a cancel in time undoes the trigger.
   */
  trigger(name: string, how?: { readonly delay?: Duration }): Promise<Triggered>
  /**
   * False when there is none. Its jobs stay. A schedule of code stays deleted until this override is reset
   * (`mill.resetOverrides`).
   */
  delete(name: string, how?: ByOption): Promise<boolean>
  /**
   * The next ticks of a schedule, paused or not, or of a candidate definition, in milliseconds since 1970.
   */
  nextRuns(
    schedule: string | Pick<ScheduleOptions, 'when' | 'zone' | 'start' | 'end'>,
    count?: number,
  ): Promise<number[]>
  /** The schedule or expression in English, with an optional time zone for an expression. */
  describe(nameOrWhen: string, zone?: string): Promise<string>
  /** The served ticks, newest first, each with the state of its job. */
  history(name: string, limit?: number): Promise<TickView[]>
}

export interface ListedSchedule extends ScheduleView {
  /** Null if the job was deleted, or if the schedule never ran. */
  readonly lastState: JobState | null
  /** The latest served ticks, newest first. */
  readonly runs: readonly TickView[]
}

/** A served tick. `state` is the current state of its job; null if the job was deleted. */
export interface TickView extends TickRecord {
  readonly state: JobState | null
}

const LISTED = 20
/** The runs of each schedule in a list. */
const LISTED_RUNS = 10
/** A list of many schedules must not occupy all connections. */
const SCHEDULES_AT_ONCE = 10
/** The store returns states with results, which can be large. */
const STATES_AT_ONCE = 50
const MOST_RUNS = 1_000
const MOST_TICKS = 10_000

/** `enqueue` writes the job once, even if the first reply is lost. */
export function schedulesApi(
  { opened, platform, emit, by: us, wake, options, definition }: MillTools,
  enqueue: (job: NewJob) => Promise<Enqueued>,
): Schedules {
  const preparing = { ...options, definition }

  async function requireSchedule(name: string): Promise<ScheduleRecord> {
    checkString(name, 'name')
    const records = await (await opened()).schedules.list()
    const record = records.find((one) => one.name === name)
    if (record !== undefined) return record
    const names = records.map((one) => one.name)
    const fix = didYouMean(name, names, { code: 'schedule.names' } as const)
    throw invalidValue('name', name, 'no schedule has this name', fix, 'SCHEDULE_UNKNOWN')
  }

  async function change(name: string, given: ScheduleChange, how?: ByOption): Promise<ScheduleView> {
    const by = byOf(how, us)
    const { live } = await requireSchedule(name)
    const { patch, fits } = prepareScheduleChange(given, live, preparing)
    await fits
    const record = await (await opened()).schedules.change(name, patch, by)
    wake()
    return scheduleView(record)
  }

  /** The planned ticks of a schedule, or the ticks after now of a candidate definition. */
  async function runsOf(
    schedule: string | Pick<ScheduleOptions, 'when' | 'zone' | 'start' | 'end'>,
    count: number,
  ): Promise<number[]> {
    if (typeof schedule !== 'string') {
      checkObjectKeys(schedule, 'schedule', [...CREATE_KEYS, 'version'])
      const from = platform.now()
      return nextRuns(timingOf(schedule), { from, count, createdAt: from })
    }
    const { live, planned, nextAt, createdAt, readAt } = await requireSchedule(schedule)
    return nextRuns(live, { from: planned && nextAt !== null ? nextAt - 1 : readAt, count, createdAt })
  }

  const list = async (): Promise<ScheduleView[]> =>
    (await (await opened()).schedules.list()).map(scheduleView)

  return {
    list,
    async listWithStates() {
      const all = await list()
      const store = await opened()
      const ticks = await ticksOf(
        store,
        all.map(({ name }) => name),
      )
      const jobs = [...all.flatMap(({ lastJob }) => lastJob ?? []), ...ticks.flat().map(({ job }) => job)]
      const states = await statesById(store, [...new Set(jobs)])
      const stateOf = (job: string | null): JobState | null =>
        job === null ? null : (states.get(job) ?? null)
      return all.map((one, at) => ({
        ...one,
        lastState: stateOf(one.lastJob),
        runs: (ticks[at] ?? []).map((tick) => ({ ...tick, state: stateOf(tick.job) })),
      }))
    },
    async get(name) {
      checkString(name, 'name')
      const record = (await (await opened()).schedules.list()).find((one) => one.name === name)
      return record === undefined ? null : scheduleView(record)
    },
    async create(options, how) {
      const by = byOf(how, us)
      checkObjectKeys(options, 'schedule', CREATE_KEYS)
      const { name, definition, named, fits } = prepareSchedule(options, preparing)
      await fits
      const record = await (await opened()).schedules.create(name, definition, by, named)
      wake()
      return scheduleView(record)
    },
    change,
    pause: (name, how) => change(name, { paused: true }, how),
    resume: (name, how) => change(name, { paused: false }, how),
    async trigger(name, how = {}) {
      checkObjectKeys(how, 'how', ['delay'])
      const delayMs = how.delay === undefined ? 0 : durationMs(how.delay, 'delay')
      const { live } = await requireSchedule(name)
      const job = scheduledJob(name, live, platform.id(), definition(live.kind)?.indexedPayload)
      const { id, outcome } = await enqueue({ ...job, delayMs })
      const ref = { id, kind: live.kind, queue: live.queue }
      if (outcome === 'duplicate') emit('duplicate', ref)
      else emit('enqueued', { ...ref, outcome })
      return { outcome: outcome === 'duplicate' ? 'skipped' : 'enqueued', job: id }
    },
    async delete(name, how) {
      const by = byOf(how, us)
      return (await opened()).schedules.delete(checkSoughtName(name, 'name'), by)
    },
    nextRuns: async (schedule, count = 10) =>
      runsOf(schedule, checkWhole(count, 'count', { least: 1, most: MOST_RUNS })),
    async describe(nameOrWhen, zone) {
      // No name contains a space or starts with @, and every expression does.
      if (/[\s@*]/.test(checkString(nameOrWhen, 'nameOrWhen')))
        return describeWhen(nameOrWhen, zone === undefined ? undefined : checkZone(zone, 'zone'))
      const { live } = await requireSchedule(nameOrWhen)
      return describeWhen(live.when, live.zone)
    },
    async history(name, limit = LISTED) {
      checkSoughtName(name, 'name')
      checkWhole(limit, 'limit', { least: 1, most: MOST_TICKS })
      const served = await (await opened()).schedules.ticks(name, limit)
      // Served ticks stay on record for a while after a schedule is deleted.
      if (served.length === 0) await requireSchedule(name)
      const states = await statesById(
        await opened(),
        served.map(({ job }) => job),
      )
      return served.map((tick) => ({ ...tick, state: states.get(tick.job) ?? null }))
    },
  }
}

/** The latest served ticks of each schedule. */
async function ticksOf(store: FullStore, names: readonly string[]): Promise<TickRecord[][]> {
  const ticks: TickRecord[][] = []
  for (let from = 0; from < names.length; from += SCHEDULES_AT_ONCE) {
    const some = names.slice(from, from + SCHEDULES_AT_ONCE)
    ticks.push(...(await Promise.all(some.map((name) => store.schedules.ticks(name, LISTED_RUNS)))))
  }
  return ticks
}

/** Omits jobs that were deleted. */
async function statesById(store: FullStore, jobs: readonly string[]): Promise<Map<string, JobState>> {
  const states = new Map<string, JobState>()
  for (let from = 0; from < jobs.length; from += STATES_AT_ONCE)
    for (const result of await store.results(jobs.slice(from, from + STATES_AT_ONCE), MAY_LAG))
      if (result !== null) states.set(result.id, result.state)
  return states
}
