/** The option `schedules`: checks each entry and reports all problems together. */
import type { AnyJob } from '../../job/definition.ts'
import { nearest } from '../../job/options/known-keys.ts'
import {
  type PreparedSchedule,
  prepareSchedule,
  type ScheduleOptions,
} from '../../job/schedule/schedule-options.ts'
import type { Problems } from './problems.ts'

export interface DeclarationTools {
  readonly jobs: readonly AnyJob[]
  readonly queueOf: (kind: string) => string
  readonly payloadLimitBytes: number
}

/** A typo in a kind makes jobs that no worker runs. A kind that other processes define is not a typo. */
function warnOfKind(kind: string, jobs: readonly AnyJob[], field: string, found: Problems): void {
  const kinds = jobs.map((job) => job.kind)
  const near = kinds.includes(kind) ? undefined : nearest(kind, kinds)
  if (near === undefined) return
  const what = `is not a kind of this process: "${kind}". Did you mean "${near}"?`
  found.add('warning', 'OPTION_INVALID', `${field}.job`, what)
}

export function declaredSchedules(
  schedules: readonly ScheduleOptions[],
  { jobs, queueOf, payloadLimitBytes }: DeclarationTools,
  found: Problems,
): PreparedSchedule[] {
  if (!Array.isArray(schedules)) {
    found.add('error', 'OPTION_INVALID', 'schedules', 'must be an array. Pass [ … ]')
    return []
  }
  const definition = (kind: string): AnyJob | undefined => jobs.find((job) => job.kind === kind)
  const seen = new Set<string>()
  return Array.from(schedules as readonly ScheduleOptions[]).flatMap((given, at) => {
    const field = `schedules[${at}]`
    return found.try(field, [], () => {
      const schedule = prepareSchedule(given, { definition, queueOf, payloadLimitBytes }, field)
      if (seen.has(schedule.name))
        found.add(
          'error',
          'SCHEDULE_EXISTS',
          `${field}.name`,
          `is already in use: "${schedule.name}". Use a unique name for each schedule`,
        )
      seen.add(schedule.name)
      warnOfKind(schedule.definition.kind, jobs, field, found)
      return [schedule]
    })
  })
}
