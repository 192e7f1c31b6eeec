/** Schedules as plain data: what code defines, what an operator changed, and what counts. */

export const MISSED = ['skip', 'last', 'all'] as const
export type Missed = (typeof MISSED)[number]
export const OVERLAPS = ['allow', 'skip'] as const
export type Overlap = (typeof OVERLAPS)[number]

/** Complete and checked. Holds all that its jobs need, so that an instance that has no code for their kind can enqueue them. */
export interface ScheduleDefinition {
  /** As it was written: five or six fields, `@daily`, `every 10m`. */
  readonly when: string
  /** An IANA time zone. */
  readonly zone: string
  /** Each job is due up to this much after its planned instant, by chance. */
  readonly jitterMs: number
  /** Instants before the first and after the second are not planned. */
  readonly startAt: number | null
  readonly endAt: number | null
  /** What becomes of instants that passed while nobody could enqueue. */
  readonly missed: Missed
  /** `missed: 'all'` makes good for those of so long ago at most. */
  readonly missedWithinMs: number
  /** `skip`: nothing is enqueued while a job of this schedule waits or runs. */
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

/** What an operator changed; the rest is as code says. */
export type SchedulePatch = Partial<ScheduleDefinition>

export function liveSchedule(code: ScheduleDefinition | null, operator: SchedulePatch): ScheduleDefinition {
  // One of the two is complete: the code's definition, or what an operator created at run time.
  return { ...code, ...operator } as ScheduleDefinition
}

/** Whether the planned instants are others now, so that the next one must be found anew. */
export function isRetimed(before: ScheduleDefinition, after: ScheduleDefinition): boolean {
  const timing = ['when', 'zone', 'startAt', 'endAt', 'paused'] as const
  return timing.some((key) => before[key] !== after[key])
}

/** Held by a job of a schedule with `overlap: 'skip'`. No scope of a user's key begins with this word. */
export function overlapKey(schedule: string): string {
  return `schedule ${schedule}`
}
