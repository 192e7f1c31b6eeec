/**
 * Schedules as `mill.schedules` returns them: the live definition, its text in English, the next run, and
 * overrides.
 */
import { isDeepStrictEqual } from 'node:util'
import { SCHEDULE_KEYS, type ScheduleDefinition } from '../../job/schedule/schedule.ts'
import { describeWhen } from '../../job/when/describe-when.ts'
import { instantsOf } from '../../job/when/instants.ts'
import type { ScheduleRecord, TickOutcome } from '../../store/types/schedule.ts'

export interface ScheduleView extends Omit<ScheduleDefinition, 'payload'> {
  readonly name: string
  readonly payload: unknown
  /** When it runs, in English. */
  readonly text: string
  /** Null when it is paused or has ended. */
  readonly nextAt: number | null
  /**
   * The last tick that was served, its outcome, and its job. For `skipped`, the job that was still waiting or
   * running.
   */
  readonly lastAt: number | null
  readonly lastOutcome: TickOutcome | null
  readonly lastJob: string | null
  /** Ticks dropped over its lifetime. For a cron expression, at most 10,000 are counted per outage. */
  readonly missedRuns: number
  /** Why the last tick failed. The tick is retried automatically. */
  readonly error: string | null
  /** Null for one created at run time. */
  readonly version: number | null
  /** The fields where an override differs from code. */
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

/** The next tick of a schedule that was just created or changed is not planned yet. */
function nextAt({ live, planned, nextAt: known, createdAt, readAt }: ScheduleRecord): number | null {
  if (live.paused) return null
  return planned ? known : instantsOf(live, createdAt).after(readAt)
}

function differs({ code, live }: ScheduleRecord): (keyof ScheduleDefinition)[] {
  return code === null ? [] : SCHEDULE_KEYS.filter((key) => !isDeepStrictEqual(code[key], live[key]))
}

/** A newer release may have stored values that this one cannot parse. The rest can still be shown. */
function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
