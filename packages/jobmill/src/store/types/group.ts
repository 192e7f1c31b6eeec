/** Groups of a queue: their settings, and what their jobs do. */

/** What an operator changes for one group. Null: the setting of the queue applies again. */
export interface GroupPatch {
  /** How many turns the group gets, compared with the others (default 1). */
  readonly weight?: number | null
  readonly concurrency?: number | null
  /** Both are set together. */
  readonly rate?: number | null
  readonly ratePerMs?: number | null
  readonly paused?: boolean
}

/** The settings in effect. Null for no maximum. */
export interface GroupSettings {
  readonly weight: number
  readonly concurrency: number | null
  readonly rate: number | null
  readonly ratePerMs: number | null
  readonly paused: boolean
}

export interface GroupRecord extends GroupSettings {
  readonly name: string
  /** Its ready jobs, and those that wait for the group. Counted up to 10,000. */
  readonly waiting: number
  readonly running: number
  /** How long its oldest waiting job has been due; null if none waits. */
  readonly oldestMs: number | null
  /** When the group gets its next token; null if it has one, or has no rate. */
  readonly nextTokenMs: number | null
  /** What an operator changed; null for no changes. */
  readonly overrides: (Omit<Required<GroupPatch>, 'ratePerMs'> & GroupChange) | null
}

interface GroupChange {
  readonly ratePerMs: number | null
  readonly by: string | null
  readonly at: number
}

export interface GroupListRequest {
  readonly limit: number
  /** Only these groups, even if they have no jobs. */
  readonly names?: readonly string[]
}

/** Upper bound for the count of waiting jobs. */
export const GROUP_WAITING_MOST = 10_000

/** Whether an operator changed something that is still in effect. */
export function isChanged({ weight, concurrency, rate, paused }: Required<GroupPatch>): boolean {
  return weight !== null || concurrency !== null || rate !== null || paused
}
