/**
 * Schedules as `mill.schedules` returns them: the live definition, its text in English, the next run, and
 * overrides.
 */
import { isDeepStrictEqual } from 'node:util'
import { SCHEDULE_KEYS, type ScheduleDefinition } from '../../job/schedule/schedule.ts'
import { describeWhen } from '../../job/when/describe-when.ts'
import { instantsOf } from '../../job/when/instants.ts'
import type { ScheduleRecord } from '../../store/types/schedule.ts'

/** `lastJob` of a skipped tick is the job that was still waiting or running. */
export interface ScheduleView
  extends
    Omit<ScheduleDefinition, 'payload'>,
    Pick<ScheduleRecord, 'name' | 'lastAt' | 'lastOutcome' | 'lastJob' | 'error' | 'version' | 'createdAt'> {
  readonly payload: unknown
  /** When it runs, in English. */
  readonly text: string
  /** Null when it is paused or has ended. */
  readonly nextAt: number | null
  /** Ticks dropped over its lifetime. For a cron expression, at most 10,000 are counted per outage. */
  readonly missedRuns: number
  /** The fields where an override differs from code. */
  readonly differs: readonly (keyof ScheduleDefinition)[]
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
