/** What can be said of a schedule, option by option: as users write it, and as it is kept. */
import { BOUNDS, DEFAULTS } from './defaults.ts'
import { type Duration, durationMs, instantAt, timeoutMs } from './duration.ts'
import { checkObjectKeys } from './known-keys.ts'
import { checkName } from './names.ts'
import { checkBoolean, checkOneOf, checkWhole } from './numbers.ts'
import { prepareJobs } from './prepare-jobs.ts'
import { MISSED, type Overlap, OVERLAPS, type SchedulePatch } from './schedule.ts'
import { checkWhen } from './when/check-timing.ts'
import { checkZone } from './when/zone-clock.ts'

type Instant = Date | number | string

/** What can be changed while everything runs. Left out means unchanged. */
export interface ScheduleChange {
  /** Five fields or six with seconds in front, `@daily`, or `every 10m`. */
  readonly when?: string
  /** The time zone that the fields are meant in (default UTC). */
  readonly zone?: string
  /** Of every job of the schedule (default null). */
  readonly payload?: unknown
  readonly priority?: number
  readonly queue?: string
  readonly maxAttempts?: number
  /** How long one attempt may take; null for what the kind says. */
  readonly timeout?: Duration | null
  readonly tags?: readonly string[]
  /** Each job is due up to this much after its instant, by chance (default 0). */
  readonly jitter?: Duration
  /** Nothing before this instant, and intervals are counted from it; null for none. */
  readonly start?: Instant | null
  /** Nothing after this instant; null for none. */
  readonly end?: Instant | null
  /** Instants that passed while nobody could enqueue: none of them, the last one (default), or all of the last day or of as long as is said. */
  readonly missed?: 'skip' | 'last' | 'all' | { readonly all: Duration }
  /** `skip`: nothing is enqueued while a job of this schedule waits or runs (default `allow`). */
  readonly overlap?: Overlap
  readonly paused?: boolean
}

type Convert = (value: unknown, field: string) => SchedulePatch

/** Every option but the payload, which needs to know its kind. */
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

/** What is said, as it is kept. */
export function converted(given: Omit<ScheduleChange, 'payload'>, field: string): SchedulePatch {
  const patch: SchedulePatch = {}
  for (const [key, convert] of Object.entries(CONVERT)) {
    const value: unknown = given[key as keyof typeof CONVERT]
    if (value !== undefined) Object.assign(patch, convert(value, `${field}.${key}`))
  }
  return patch
}

/** By the checks of a job: they are its tags. */
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
