/** The options of a schedule, and their conversion to the stored form. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs, instantAt, timeoutMs } from '../duration.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { checkName } from '../names.ts'
import { checkBoolean, checkOneOf, checkWhole } from '../numbers.ts'
import { prepareJobs } from '../enqueue/prepare-jobs.ts'
import { MISSED, type Overlap, OVERLAPS, type SchedulePatch } from './schedule.ts'
import { checkWhen } from '../when/check-timing.ts'
import { checkZone } from '../when/zone-clock.ts'

type Instant = Date | number | string

/**
 * The options that can change at run time. In a change, an omitted option stays unchanged; the defaults below
 * apply when a schedule is created.
 */
export interface ScheduleChange {
  /** Five cron fields, or six with seconds first, `@daily`, or `every 10m`. */
  readonly when?: string
  /** The time zone of the fields (default UTC). */
  readonly zone?: string
  /** The payload of every job of the schedule (default null). */
  readonly payload?: unknown
  /** The priority of its jobs: lower runs first. Default: that of the kind. */
  readonly priority?: number
  /** The queue of its jobs. Default: that of the kind. */
  readonly queue?: string
  /** Its jobs are dead after this many failed attempts. Default: that of the kind. */
  readonly maxAttempts?: number
  /** How long one attempt may take; null, the default, for the timeout of the kind. */
  readonly timeout?: Duration | null
  /** The tags of its jobs: up to 20 short strings. */
  readonly tags?: readonly string[]
  /** Delays each job randomly by up to this much (default 0). */
  readonly jitter?: Duration
  /** No ticks before this instant, and intervals count from it; null for none. */
  readonly start?: Instant | null
  /** No ticks after this instant; null for none. */
  readonly end?: Instant | null
  /**
   * What to do about ticks missed while no process was running: skip them, enqueue the last one (default), or
   * enqueue all of the last day or of the given time.
   */
  readonly missed?:
    | 'skip'
    | 'last'
    | 'all'
    | {
        /** Enqueues all missed ticks of this time. */
        readonly all: Duration
      }
  /** `skip`: enqueue nothing while a job of this schedule waits or runs (default `allow`). */
  readonly overlap?: Overlap
  /** True: the schedule enqueues nothing (default false). */
  readonly paused?: boolean
}

type Convert = (value: unknown, field: string) => SchedulePatch

/** All options except the payload, whose validation depends on the kind. */
const CONVERT: Readonly<Record<Exclude<keyof ScheduleChange, 'payload'>, Convert>> = {
  when: (value, field) => ({ when: checkWhen(value, field) }),
  zone: (value, field) => ({ zone: checkZone(value, field) }),
  priority: (value, field) => ({ priority: checkWhole(value, field, BOUNDS.priority) }),
  queue: (value, field) => ({ queue: checkName(value, field) }),
  maxAttempts: (value, field) => ({ maxAttempts: checkWhole(value, field, BOUNDS.maxAttempts) }),
  timeout: (value, field) => ({ timeoutMs: value === null ? null : timeoutMs(value, field) }),
  tags: tagsOf,
  jitter: (value, field) => ({ jitterMs: durationMs(value, field) }),
  start: (value, field) => ({ startAt: value === null ? null : instantAt(value, field) }),
  end: (value, field) => ({ endAt: value === null ? null : instantAt(value, field) }),
  missed: missedOf,
  overlap: (value, field) => ({ overlap: checkOneOf(value, field, OVERLAPS) }),
  paused: (value, field) => ({ paused: checkBoolean(value, field) }),
}

export const CHANGE_KEYS: readonly string[] = [...Object.keys(CONVERT), 'payload']

/** Converts the options to their stored form. */
export function toStored(given: Omit<ScheduleChange, 'payload'>, field: string): SchedulePatch {
  const patch: SchedulePatch = {}
  for (const [key, convert] of Object.entries(CONVERT)) {
    const value: unknown = given[key as keyof typeof CONVERT]
    if (value !== undefined) Object.assign(patch, convert(value, `${field}.${key}`))
  }
  return patch
}

/** Uses the validation of job tags. */
function tagsOf(tags: unknown, field: string): SchedulePatch {
  const request = { kind: 'any', payload: null, tags: tags as readonly string[] }
  const [job] = prepareJobs([request], { mintId: () => '', placeOf: () => field.replace(/\.tags$/, '') })
  return { tags: job?.tags ?? [] }
}

function missedOf(value: unknown, field: string): SchedulePatch {
  if (typeof value === 'object' && value !== null) {
    checkObjectKeys(value, field, ['all'])
    const within: unknown = 'all' in value ? value.all : undefined
    return { missed: 'all', missedWithinMs: durationMs(within, `${field}.all`) }
  }
  const missed = checkOneOf(value, field, MISSED)
  return missed === 'all' ? { missed, missedWithinMs: DEFAULTS.missedWithinMs } : { missed }
}
