/** `jobmill schedules add`: creates a schedule at run time, in addition to those in code. */
import { isJobmillError, JobmillError, quote } from '../../job/errors.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { type Command, EXIT } from '../program/command.ts'
import { checkKind } from '../enqueue/known-kind.ts'
import { newScheduleOf, SCHEDULE_FIELDS, SCHEDULE_OPTIONS } from '../schedules/options.ts'
import { BY_CLI, withMill } from '../with-mill.ts'
import { moment } from '../output/wording.ts'

export const schedulesAdd: Command = {
  words: 'schedules add',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'add a schedule',
  options: SCHEDULE_OPTIONS,
  fields: SCHEDULE_FIELDS,
  examples: [
    `jobmill schedules add weekly-report --when '0 9 * * MON' --zone Europe/Paris --kind report.build`,
    `jobmill schedules add probe --when 'every 30s' --kind probe --payload '{"url":"https://example.com"}' --overlap skip`,
  ],
  run: async (parsed, terminal) => {
    const options = newScheduleOf(parsed)
    return withMill(
      parsed,
      async (mill) => {
        const schedule = await mill.schedules.create(options, BY_CLI).catch((error: unknown) => {
          throw explainExisting(error, options.name)
        })
        const { name, text, nextAt } = schedule
        if (parsed.has('json')) terminal.out(JSON.stringify(schedule))
        else {
          terminal.out(`added ${name}: ${text}`)
          if (nextAt !== null) terminal.out(`next ${moment(nextAt, systemPlatform.now())}`)
        }
        return EXIT.done
      },
      {
        mayCreate: true,
        check: (config) => checkKind(parsed.text('kind') ?? '', '--kind', { parsed, options: config }),
      },
    )
  },
}

/** No command changes a schedule, so the library's advice to change it does not apply here. */
function explainExisting(error: unknown, name: string): unknown {
  if (!isJobmillError(error) || error.code !== 'SCHEDULE_EXISTS') return error
  return new JobmillError('SCHEDULE_EXISTS', 'already exists', {
    field: 'NAME',
    value: quote(name),
    fix: `Run "jobmill schedules delete ${name}" first, use another name, or change the code that defines it`,
    cause: error,
  })
}
