/** Metrics of duties: passes of this process, and the age of the last success here or on the leader. */
import type { DutyRecord } from '../../store/types/duty.ts'
import { counter, type Family, gauge, type Sample } from './text.ts'

/** A duty of this process. */
export interface DutyHere {
  readonly name: string
  readonly forAll: boolean
  readonly leading: boolean
  /** Null for a duty that runs on demand. */
  readonly everyMs: number | null
  readonly passes: number
  /** Failed passes. */
  readonly failed: number
  readonly succeededAgoMs: number | null
}

/** `records` is null when they could not be read. `now` is the wall clock. */
export function dutyFamilies(
  here: readonly DutyHere[],
  records: readonly DutyRecord[] | null,
  now: number,
): Family[] {
  return [
    counter(
      'duty_runs_total',
      'Passes of a duty in this process.',
      here.map(({ name: duty, passes: value }) => ({ labels: { duty }, value })),
    ),
    counter(
      'duty_errors_total',
      'Failed passes of a duty in this process.',
      here.map(({ name: duty, failed: value }) => ({ labels: { duty }, value })),
    ),
    gauge(
      'duty_last_success_age_seconds',
      'Seconds since a periodic duty last succeeded or had nothing to do. If another process leads it, clock skew between the two affects the value.',
      ages(here, records ?? [], now),
    ),
  ]
}

/**
 * For a duty that another instance leads, only the store knows the age. A duty that runs on demand has none.
 */
function ages(here: readonly DutyHere[], records: readonly DutyRecord[], now: number): Sample[] {
  const ms = new Map<string, number>()
  for (const { name, lastSuccessAt } of records)
    if (lastSuccessAt !== null) ms.set(name, Math.max(0, now - lastSuccessAt))
  for (const { name, forAll, leading, everyMs, succeededAgoMs } of here)
    if (succeededAgoMs !== null && everyMs !== null && (!forAll || leading)) ms.set(name, succeededAgoMs)
  return [...ms].map(([duty, value]) => ({ labels: { duty }, value: value / 1_000 }))
}
