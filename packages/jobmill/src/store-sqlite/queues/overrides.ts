/** Lists and resets the overrides of queues, limits and schedules. */
import type { Overridable, OverrideRecord } from '../../job/queue/overrides.ts'
import { overridesOfLimits, resetLimitOverrides } from '../limits/limits.ts'
import { overridesOfQueues, resetQueueOverrides } from './queues.ts'
import { overridesOfSchedules, resetScheduleOverrides } from '../schedules/schedules.ts'
import type { Look, Work } from '../work.ts'

const RESET = { queue: resetQueueOverrides, limit: resetLimitOverrides, schedule: resetScheduleOverrides }

export function resetOverrides(
  work: Work,
  what: Overridable,
  name: string,
  options: readonly string[] | null,
): string[] {
  return RESET[what](work, name, options).toSorted()
}

export function overrides(look: Look): OverrideRecord[] {
  return [...overridesOfQueues(look), ...overridesOfLimits(look), ...overridesOfSchedules(look)]
}
