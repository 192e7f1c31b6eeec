/** `jobmill schedules list`: lists all schedules, described in English, with their next and last runs. */
import { systemPlatform } from '../../platform/platform.ts'
import type { ScheduleView } from '../../runtime/operate/schedule-view.ts'
import { type Command, EXIT } from '../program/command.ts'
import { oneLine } from '../output/plain.ts'
import { type Cell, type Painted, table } from '../output/table.ts'
import { withMill } from '../with-mill.ts'
import { fromNow, moment } from '../output/wording.ts'

const HEADS = ['schedule', 'state', 'when', 'zone', 'kind', 'queue', 'next', 'last', 'description']

export const schedulesList: Command = {
  words: 'schedules list',
  says: 'list schedules with their next and last runs',
  examples: ['jobmill schedules list', `jobmill schedules list --json | jq '.schedules[].nextAt'`],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const schedules = await mill.schedules.list()
      if (parsed.has('json')) terminal.out(JSON.stringify({ schedules }))
      else {
        const now = systemPlatform.now()
        const rows = schedules.map((schedule) => rowOf(schedule, now))
        terminal.out(table(HEADS, rows, 'no schedules', terminal))
        for (const { name, error, differs } of schedules) {
          if (error !== null) terminal.out(`${name}: ${oneLine(error)}`)
          if (differs.length > 0) terminal.out(`${name}: overridden by an operator: ${differs.join(', ')}`)
        }
      }
      return EXIT.done
    }),
}

function rowOf(schedule: ScheduleView, now: number): Cell[] {
  const { name, when, zone, kind, queue, nextAt, lastAt, lastOutcome, text } = schedule
  return [
    name,
    stateOf(schedule),
    when,
    zone,
    kind,
    queue,
    nextAt === null ? null : moment(nextAt, now),
    lastAt === null ? null : `${lastOutcome ?? ''} ${fromNow(lastAt, now)}`.trim(),
    text,
  ]
}

function stateOf({ paused, error, nextAt }: ScheduleView): Painted {
  if (paused) return { text: 'paused', style: 'yellow' }
  if (error !== null) return { text: 'failing', style: 'red' }
  return nextAt === null ? { text: 'ended', style: 'gray' } : { text: 'active', style: 'green' }
}
