/** The actions at the top of the schedule page. */
import { Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useMay } from '../../api/user/roles.ts'
import type { Schedule } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { DeleteSchedule } from './delete-schedule.tsx'
import { ScheduleDrawer } from './form/schedule-drawer.tsx'
import { RunSchedule } from './run-schedule.tsx'
import { useScheduleActs } from './use-schedule-acts.ts'

export function ScheduleButtons({ schedule }: { readonly schedule: Schedule }) {
  const may = useMay()
  const { isActing, turn, trigger, remove } = useScheduleActs(schedule)
  const [asked, setAsked] = useState<'run' | 'edit' | 'delete' | null>(null)
  const [, go] = useLocation()
  const close = (): void => setAsked(null)
  if (!may('operator')) return null
  return (
    <>
      <Button look="main" icon={Zap} disabled={isActing} onClick={() => setAsked('run')}>
        Run now
      </Button>
      <Button icon={schedule.paused ? Play : Pause} disabled={isActing} onClick={turn}>
        {schedule.paused ? 'Resume' : 'Pause'}
      </Button>
      {may('admin') && (
        <>
          <Button icon={Pencil} onClick={() => setAsked('edit')}>
            Edit
          </Button>
          <Button look="danger" icon={Trash2} onClick={() => setAsked('delete')}>
            Delete
          </Button>
        </>
      )}
      {asked === 'run' && <RunSchedule schedule={schedule} run={trigger} close={close} />}
      {asked === 'edit' && <ScheduleDrawer schedule={schedule} close={close} />}
      {asked === 'delete' && (
        <DeleteSchedule
          schedule={schedule}
          close={close}
          remove={async () => {
            await remove()
            go('/schedules')
          }}
        />
      )}
    </>
  )
}
