/** Lists and resets the overrides of queues, limits and schedules. */
import type { OverrideRecord } from '../../job/queue/overrides.ts'
import { overridesOfLimits, resetLimitOverrides } from '../limits/limits.ts'
import { overridesOfQueues, resetQueueOverrides } from './queues.ts'
import { overridesOfSchedules, resetScheduleOverrides } from '../schedules/schedules.ts'
import type { Look } from '../work.ts'

/** Each returns the options that were overridden. */
export const RESET_OVERRIDES = {
  queue: resetQueueOverrides,
  limit: resetLimitOverrides,
  schedule: resetScheduleOverrides,
}

export function overrides(look: Look): OverrideRecord[] {
  return [...overridesOfQueues(look), ...overridesOfLimits(look), ...overridesOfSchedules(look)]
}
