/** `jobmill schedules pause`, `resume`, `trigger` and `delete`. */
import { JobmillError, quote } from '../../job/errors.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { type Command, EXIT } from '../program/command.ts'
import { confirm, YES } from '../output/confirm.ts'
import { BY_CLI, withMill } from '../with-mill.ts'
import { moment } from '../output/wording.ts'

const ONE = { takes: 'NAME', arguments: [1, 1], fields: { name: 'NAME' } } as const

export const schedulesPause: Command = {
  words: 'schedules pause',
  ...ONE,
  says: 'pause a schedule; ticks during the pause are skipped',
  examples: ['jobmill schedules pause weekly-report'],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const schedule = await mill.schedules.pause(parsed.words[0] ?? '', BY_CLI)
      terminal.out(parsed.has('json') ? JSON.stringify(schedule) : `paused ${schedule.name}`)
      return EXIT.done
    }),
}

export const schedulesResume: Command = {
  words: 'schedules resume',
  ...ONE,
  says: 'resume a paused schedule',
  examples: ['jobmill schedules resume weekly-report'],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const schedule = await mill.schedules.resume(parsed.words[0] ?? '', BY_CLI)
      const { name, nextAt } = schedule
      const next = nextAt === null ? 'no more runs' : `next ${moment(nextAt, systemPlatform.now())}`
      terminal.out(parsed.has('json') ? JSON.stringify(schedule) : `resumed ${name}: ${next}`)
      return EXIT.done
    }),
}

export const schedulesTrigger: Command = {
  words: 'schedules trigger',
  ...ONE,
  says: 'enqueue a job of a schedule now, even if it is paused; its next run is unchanged',
  examples: [
    'jobmill schedules trigger weekly-report',
    'jobmill schedules trigger weekly-report --json | jq -r .job',
  ],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const triggered = await mill.schedules.trigger(parsed.words[0] ?? '')
      const { outcome, job } = triggered
      const isSkipped = outcome === 'skipped'
      if (parsed.has('json')) terminal.out(JSON.stringify(triggered))
      else terminal.out(isSkipped ? `skipped: ${job} has not ended` : `enqueued ${job}`)
      return isSkipped ? EXIT.refused : EXIT.done
    }),
}

export const schedulesDelete: Command = {
  words: 'schedules delete',
  ...ONE,
  says: 'delete a schedule but not its jobs; one in code stays deleted until "overrides reset"',
  options: { yes: YES },
  examples: ['jobmill schedules delete weekly-report', 'jobmill schedules delete weekly-report --yes'],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const name = parsed.words[0] ?? ''
      const schedule = await mill.schedules.get(name)
      if (schedule === null) {
        throw new JobmillError('SCHEDULE_UNKNOWN', 'no schedule has this name', {
          field: 'NAME',
          value: quote(name),
          fix: 'Run jobmill schedules list to see all schedules',
        })
      }
      if (!(await confirm(`delete ${name} (${schedule.text})?`, parsed, terminal))) {
        terminal.err('nothing was deleted')
        return EXIT.refused
      }
      const deleted = await mill.schedules.delete(name, BY_CLI)
      if (parsed.has('json')) terminal.out(JSON.stringify({ name, deleted }))
      else {
        terminal.out(`deleted ${name}`)
        if (schedule.version !== null)
          terminal.out(`it is defined in code; run "jobmill overrides reset schedule ${name}" to restore it`)
      }
      return EXIT.done
    }),
}
