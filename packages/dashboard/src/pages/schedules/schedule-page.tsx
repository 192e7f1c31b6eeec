/** Schedule page: settings, next runs, history and payload. */
import { useOverrides } from '../../api/overrides.ts'
import { useSchedule } from '../../api/reads.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { Json } from '../../kit/json/json.tsx'
import { OverridesCard } from '../../kit/overrides/overrides-card.tsx'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { NextRuns } from './next-runs.tsx'
import { ScheduleActs } from './schedule-acts.tsx'
import { ScheduleFacts } from './schedule-facts.tsx'
import { Ticks } from './ticks.tsx'
import { sentence } from '../../kit/text/format.ts'

export function SchedulePage({ name }: { readonly name: string }) {
  const read = useSchedule(name)
  if (read.error?.status === 404) return <NoSchedule name={name} />
  const title = <span className="break-all">{name}</span>
  return (
    <>
      {read.data === undefined && <PageHead title={title} />}
      <DataView read={read} shape="cards">
        {({ schedule, runs, history }) => (
          <>
            <PageHead title={title} note={sentence(schedule.text)}>
              <ScheduleActs schedule={schedule} />
            </PageHead>
            {schedule.error !== null && (
              <p
                role="alert"
                className="mb-4 rounded-xl border border-dead bg-dead-soft px-4 py-3 break-words text-dead"
              >
                The last run failed to enqueue and is retried automatically: {schedule.error}
              </p>
            )}
            <div className="grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-3">
              <div className="flex min-w-0 flex-col gap-4 lg:col-span-2">
                <Card title="Details">
                  <ScheduleFacts schedule={schedule} />
                </Card>
                <Card title="Payload">
                  <Json value={schedule.payload ?? null} name="payload" />
                </Card>
                <OverridesCard what="schedule" name={name} />
                <Card flush title="Run history">
                  <Ticks history={history} />
                </Card>
              </div>
              <Card title="Next runs" className="self-start">
                <NextRuns runs={runs} zone={schedule.zone} isPaused={schedule.paused} />
              </Card>
            </div>
          </>
        )}
      </DataView>
    </>
  )
}

/** Where the schedule is defined in code, a deletion is an override that can be reset here. */
function NoSchedule({ name }: { readonly name: string }) {
  const isDeleted = useOverrides('schedule', name).has('deleted')
  return (
    <>
      <PageHead title={<span className="break-all">{name}</span>} />
      <div className="flex min-w-0 flex-col gap-4">
        <Card>
          <Empty title={isDeleted ? 'An operator deleted this schedule' : 'Schedule not found'}>
            <p className="mb-3">
              {isDeleted
                ? 'It is defined in code. Reset the override to run it again. '
                : 'It may have been deleted. '}
              Jobs that it enqueued are kept.
            </p>
            <LinkButton to="/schedules">View all schedules</LinkButton>
          </Empty>
        </Card>
        <OverridesCard what="schedule" name={name} />
      </div>
    </>
  )
}
