/**
 * Schedules as plain data: the definition in code, the changes of an operator, and the definition in effect.
 */

export const MISSED = ['skip', 'last', 'all'] as const
export type Missed = (typeof MISSED)[number]
export const OVERLAPS = ['allow', 'skip'] as const
export type Overlap = (typeof OVERLAPS)[number]

/**
 * Complete and validated. Contains everything its jobs need, so that an instance without code for their kind
 * can enqueue them.
 */
export interface ScheduleDefinition {
  /** The expression: five or six fields, `@daily`, `every 10m`. */
  readonly when: string
  /** An IANA time zone. */
  readonly zone: string
  /** Each job is delayed randomly by up to this much. */
  readonly jitterMs: number
  /** There are no ticks before `startAt` or after `endAt`. */
  readonly startAt: number | null
  readonly endAt: number | null
  /** What to do about ticks that were missed while no process was running. */
  readonly missed: Missed
  /** `missed: 'all'` goes back at most this far. */
  readonly missedWithinMs: number
  /** `skip`: enqueue nothing while a job of this schedule waits or runs. */
  readonly overlap: Overlap
  readonly paused: boolean
  readonly kind: string
  readonly queue: string
  /** JSON text. */
  readonly payload: string
  readonly priority: number
  readonly maxAttempts: number
  readonly timeoutMs: number | null
  readonly tags: readonly string[]
}

export type ScheduleOption = keyof ScheduleDefinition

export const SCHEDULE_KEYS = [
  'when',
  'zone',
  'jitterMs',
  'startAt',
  'endAt',
  'missed',
  'missedWithinMs',
  'overlap',
  'paused',
  'kind',
  'queue',
  'payload',
  'priority',
  'maxAttempts',
  'timeoutMs',
  'tags',
] as const satisfies readonly ScheduleOption[]

/** The options that an operator changed; the rest follows code. */
export type SchedulePatch = Partial<ScheduleDefinition>

/** Whether the ticks changed, so that the next one must be computed again. */
export function isRetimed(before: ScheduleDefinition, after: ScheduleDefinition): boolean {
  const timing = ['when', 'zone', 'startAt', 'endAt', 'paused'] as const
  return timing.some((key) => before[key] !== after[key])
}

/**
 * Held by a job of a schedule with `overlap: 'skip'`. No dedupe key of the user starts with it.
 */
export function overlapKey(schedule: string): string {
  return `schedule ${schedule}`
}
