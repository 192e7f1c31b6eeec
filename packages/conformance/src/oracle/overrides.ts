/** Lists and resets the overrides of queues, limits and schedules. */
import {
  limitOverrides,
  type Overridable,
  type OverrideRecord,
  queueOverrides,
  scheduleOverrides,
} from 'jobmill/store'
import { resetLimitOverrides } from './limits.ts'
import { resetQueueOverrides } from './queues.ts'
import { byName } from './inspect/read.ts'
import { resetScheduleOverrides } from './schedules.ts'
import type { OracleState } from './state.ts'

export function resetOverrides(
  state: OracleState,
  what: Overridable,
  name: string,
  options: readonly string[] | null,
): string[] {
  if (what === 'limit') return resetLimitOverrides(state, name, options).toSorted()
  return (what === 'queue' ? resetQueueOverrides : resetScheduleOverrides)(state, name, options).toSorted()
}

export function readOverrides(state: OracleState): OverrideRecord[] {
  return [
    ...byName(state.queues).flatMap(([name, { sources }]) => queueOverrides(name, sources)),
    ...byName(state.limits).flatMap(([name, { sources }]) => limitOverrides(name, sources)),
    ...byName(state.schedules).flatMap(([name, schedule]) => scheduleOverrides(name, schedule)),
  ]
}
