/** The limits of a group: those of all groups of a queue, and those that an operator set for one. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs } from '../duration.ts'
import { invalidValue, JobmillError, quote } from '../errors.ts'
import { checkWhole } from '../numbers.ts'

/** The settings of a queue that are about groups. */
interface OfGroups {
  readonly groupFair: boolean
  readonly groupConcurrency: number | null
  readonly groupRate: number | null
}

/** Whether groups of the queue may wait for a slot or a token. */
export function hasGroupLimits(queue: OfGroups | undefined): boolean {
  return queue !== undefined && (queue.groupConcurrency !== null || queue.groupRate !== null)
}

/** Whether the queue shares its workers between groups, or limits them. */
export function hasGroups(queue: Partial<OfGroups>): boolean {
  const { groupFair = false, groupConcurrency = null, groupRate = null } = queue
  return groupFair || groupConcurrency !== null || groupRate !== null
}

interface GivenLimits {
  readonly concurrency?: number | null
  readonly rate?: number | null
  readonly per?: Duration
}

export interface GroupLimits {
  readonly concurrency: number | null | undefined
  readonly rate: number | null | undefined
  readonly ratePerMs: number | null | undefined
}

/** Undefined for what stays unchanged. A rate is set together with its period. */
export function groupLimits({ concurrency, rate, per }: GivenLimits, field: string): GroupLimits {
  if (per !== undefined && typeof rate !== 'number')
    throw new JobmillError('OPTION_CONFLICT', 'needs a rate', {
      field: `${field}.per`,
      value: quote(per),
      fix: "Pass rate too, such as { rate: 10, per: '1s' }",
    })
  return {
    concurrency: atLeastOne(concurrency, `${field}.concurrency`),
    rate: atLeastOne(rate, `${field}.rate`),
    ratePerMs: typeof rate === 'number' ? periodMs(per, `${field}.per`) : rate,
  }
}

function atLeastOne(value: number | null | undefined, field: string): number | null | undefined {
  if (value === undefined || value === null) return value
  if (value === 0) {
    const fix = 'Pause the group or the queue, or pass null for no maximum'
    throw invalidValue(field, value, 'would never run a job', fix)
  }
  return checkWhole(value, field, BOUNDS.limit)
}

function periodMs(per: Duration | undefined, field: string): number {
  const ms = per === undefined ? DEFAULTS.limitPerMs : durationMs(per, field)
  if (ms >= BOUNDS.shortestPerMs) return ms
  throw invalidValue(field, per, `must be at least ${BOUNDS.shortestPerMs} ms`, "Pass '1s', or 1000")
}
