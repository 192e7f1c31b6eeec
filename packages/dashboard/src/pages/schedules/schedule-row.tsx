/** One row of the list of schedules. */
import type { ListedSchedule } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { number, sentence } from '../../kit/text/format.ts'
import { ActsCell, Cell, Row } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'
import { LastRun } from './last-run.tsx'
import { NextRun } from './next-run.tsx'
import { scheduleAddress } from './schedule-address.ts'
import { ScheduleActs } from './schedule-acts.tsx'
import { TickMarks } from './tick-strip.tsx'

export function ScheduleRow({ schedule }: { readonly schedule: ListedSchedule }) {
  const { name, kind, queue, when, zone, text, differs, missedRuns, error, runs } = schedule
  return (
    <Row>
      <Cell className="max-w-72 min-w-44">
        <TextLink to={scheduleAddress(name)} className="block truncate font-medium">
          <span title={name}>{name}</span>
        </TextLink>
        <span className="block truncate text-xs text-soft" title={`${kind} in ${queue}`}>
          {kind} in {queue}
        </span>
        {differs.length > 0 && (
          <span className="block truncate text-xs text-ready" title={differs.join(', ')}>
            Differs from code: {differs.join(', ')}
          </span>
        )}
      </Cell>
      <Cell className="max-w-96 min-w-52">
        <span className="line-clamp-2" title={text}>
          {sentence(text)}
        </span>
        <span className="block truncate text-xs text-soft">
          <code className="font-mono">{when}</code> · {zone}
        </span>
      </Cell>
      <Cell className="whitespace-nowrap">
        <NextRun schedule={schedule} />
      </Cell>
      <Cell className="min-w-36">
        {schedule.lastAt === null ? (
          <span className="text-soft">never</span>
        ) : (
          <>
            <Ago at={schedule.lastAt} />
            <span className="block text-xs">
              <LastRun outcome={schedule.lastOutcome} job={schedule.lastJob} state={schedule.lastState} />
            </span>
          </>
        )}
        {runs.length > 0 && <TickMarks history={runs} className="mt-1 h-3" />}
        {error !== null && (
          <span className="block max-w-64 truncate text-xs text-dead" title={error}>
            Error: {error}
          </span>
        )}
      </Cell>
      <Cell right>
        <span className={missedRuns === 0 ? 'text-soft' : 'text-ready'}>{number(missedRuns)}</span>
      </Cell>
      <ActsCell>
        <ScheduleActs isRow schedule={schedule} />
      </ActsCell>
    </Row>
  )
}
