/** Schedules as people look at them: what counts, in English too, what comes next, and what an operator made of what code says. */
import { isDeepStrictEqual } from 'node:util'
import { SCHEDULE_KEYS, type ScheduleDefinition } from '../job/schedule.ts'
import { describeWhen } from '../job/when/describe-when.ts'
import { instantsOf } from '../job/when/instants.ts'
import type { ScheduleRecord, TickOutcome } from '../store/schedule.ts'

export interface ScheduleView extends Omit<ScheduleDefinition, 'payload'> {
  readonly name: string
  readonly payload: unknown
  /** When it runs, in English. */
  readonly text: string
  /** Null when it is paused or over. */
  readonly nextAt: number | null
  /** The last planned instant that was served, how, and the job: the new one, or for `skipped` the one that still waited or ran. */
  readonly lastAt: number | null
  readonly lastOutcome: TickOutcome | null
  readonly lastJob: string | null
  /** Planned instants that were dropped over its life; of one long absence at most 10,000 are counted. */
  readonly missedRuns: number
  /** Why it could not be served the last time; it is tried again all the same. */
  readonly error: string | null
  /** Null for one that was created at run time. */
  readonly version: number | null
  /** What an operator changed, and is not what code says. */
  readonly differs: readonly (keyof ScheduleDefinition)[]
  readonly createdAt: number
}

export function scheduleView(record: ScheduleRecord): ScheduleView {
  const { name, live, lastAt, lastOutcome, lastJob, missed, error, version, createdAt } = record
  return {
    ...live,
    name,
    payload: JSON.parse(live.payload) as unknown,
    text: readable(() => describeWhen(live.when, live.zone), live.when),
    nextAt: readable(() => nextAt(record), null),
    lastAt,
    lastOutcome,
    lastJob,
    missedRuns: missed,
    error,
    version,
    differs: differs(record),
    createdAt,
  }
}

/** One that was just made or changed is not planned yet. */
function nextAt({ live, planned, nextAt: known, createdAt, readAt }: ScheduleRecord): number | null {
  if (live.paused) return null
  return planned ? known : instantsOf(live, createdAt).after(readAt)
}

function differs({ code, live }: ScheduleRecord): (keyof ScheduleDefinition)[] {
  return code === null ? [] : SCHEDULE_KEYS.filter((key) => !isDeepStrictEqual(code[key], live[key]))
}

/** A newer release may have written what this one cannot read; the rest can still be shown. */
function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
