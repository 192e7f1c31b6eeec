/** Schedules page: recurring jobs. */
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useSchedules } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Schedule } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { plural } from '../../kit/text/format.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { ScheduleDrawer } from './form/schedule-drawer.tsx'
import { ScheduleRow } from './schedule-row.tsx'

const COLUMNS = [
  { key: 'name', name: 'Schedule' },
  { key: 'when', name: 'When' },
  { key: 'next', name: 'Next run' },
  { key: 'last', name: 'Last run' },
  { key: 'missed', name: <span title="Missed runs">Missed</span>, right: true },
  { key: 'acts', name: <span className="sr-only">Actions</span> },
]

const VALUES: SortValues<Schedule> = {
  name: ({ name }) => name,
  next: ({ paused, nextAt }) => (paused ? null : nextAt),
  last: ({ lastAt }) => lastAt,
  missed: ({ missedRuns }) => missedRuns,
}

export function SchedulesPage() {
  const read = useSchedules()
  const may = useMay()
  const [isCreating, setCreating] = useState(false)
  const create = (
    <Button look="main" icon={Plus} onClick={() => setCreating(true)}>
      New schedule
    </Button>
  )
  return (
    <>
      <PageHead title="Schedules" note="Recurring jobs">
        {may('admin') && create}
      </PageHead>
      <Card flush>
        <DataView read={read} shape="table">
          {({ schedules }) =>
            schedules.length === 0 ? (
              <Empty title="No schedules">
                <p className="mb-3">
                  Declare schedules in the options (<code className="font-mono">schedules</code>)
                  {may('admin') ? ', or create one here.' : '.'}
                </p>
                {may('admin') && create}
              </Empty>
            ) : (
              <SortedTable
                label={plural(schedules.length, 'schedule')}
                columns={COLUMNS}
                rows={schedules}
                values={VALUES}
              >
                {(schedule) => <ScheduleRow key={schedule.name} schedule={schedule} />}
              </SortedTable>
            )
          }
        </DataView>
      </Card>
      {isCreating && <ScheduleDrawer close={() => setCreating(false)} />}
    </>
  )
}
