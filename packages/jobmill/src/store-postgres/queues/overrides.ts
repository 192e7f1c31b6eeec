/** Lists and resets the overrides of queues, limits and schedules. */
import type { Overridable, OverrideRecord } from '../../job/queue/overrides.ts'
import type { Context } from '../context.ts'
import { overridesOfLimits, resetLimitOverrides } from '../limits/limit-settings.ts'
import { overridesOfQueues, resetQueueOverrides } from './queues.ts'
import { overridesOfSchedules, resetScheduleOverrides } from '../schedules/schedules.ts'

const RESET = { queue: resetQueueOverrides, limit: resetLimitOverrides, schedule: resetScheduleOverrides }

export async function resetOverrides(
  context: Context,
  what: Overridable,
  name: string,
  options: readonly string[] | null,
): Promise<string[]> {
  return (await RESET[what](context, name, options)).toSorted()
}

export async function overrides(context: Context): Promise<OverrideRecord[]> {
  return [
    ...(await overridesOfQueues(context)),
    ...(await overridesOfLimits(context)),
    ...(await overridesOfSchedules(context)),
  ]
}
