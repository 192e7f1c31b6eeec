/** The option `schedules`: checks each entry and reports all problems together. */
import type { AnyJob } from '../../job/kind/definition.ts'
import { nearest } from '../../job/options/known-keys.ts'
import {
  type PreparedSchedule,
  prepareSchedule,
  type ScheduleOptions,
  type ScheduleTools,
} from '../../job/schedule/schedule-options.ts'
import type { Problems } from './problems.ts'

/** A typo in a kind makes jobs that no worker runs. A kind that other processes define is not a typo. */
function warnOfKind(kind: string, jobs: readonly AnyJob[], field: string, found: Problems): void {
  const kinds = jobs.map((job) => job.kind)
  const near = kinds.includes(kind) ? undefined : nearest(kind, kinds)
  if (near === undefined) return
  const what = `is not defined in this process: "${kind}". Did you mean "${near}"?`
  found.add('warning', 'OPTION_INVALID', `${field}.job`, what)
}

export function declaredSchedules(
  schedules: readonly ScheduleOptions[],
  { jobs, ...tools }: Omit<ScheduleTools, 'definition'> & { readonly jobs: readonly AnyJob[] },
  found: Problems,
): PreparedSchedule[] {
  const definition = (kind: string): AnyJob | undefined => jobs.find((job) => job.kind === kind)
  const unique = found.unique('SCHEDULE_EXISTS', 'a unique name for each schedule')
  return (found.items(schedules, 'schedules') as ScheduleOptions[]).flatMap((given, at) => {
    const field = `schedules[${at}]`
    return found.try(field, [], () => {
      const schedule = prepareSchedule(given, { ...tools, definition }, field)
      unique(schedule.name, `${field}.name`)
      warnOfKind(schedule.definition.kind, jobs, field, found)
      return [schedule]
    })
  })
}
