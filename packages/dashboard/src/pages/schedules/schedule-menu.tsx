/** The actions menu of a schedule. */
import { Ellipsis, Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/user/roles.ts'
import type { Schedule } from '../../api/types.ts'
import { Menu, MenuItem } from '../../kit/overlays/menu.tsx'
import { DeleteSchedule } from './delete-schedule.tsx'
import { ScheduleDrawer } from './form/schedule-drawer.tsx'
import { RunSchedule } from './run-schedule.tsx'
import { useScheduleActs } from './use-schedule-acts.ts'

export function ScheduleMenu({ schedule }: { readonly schedule: Schedule }) {
  const may = useMay()
  const { isActing, turn, trigger, remove } = useScheduleActs(schedule)
  const [asked, setAsked] = useState<'run' | 'edit' | 'delete' | null>(null)
  if (!may('operator')) return null
  const close = (): void => setAsked(null)
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            aria-label={`Actions for ${schedule.name}`}
            disabled={isActing}
            className="inline-flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunk hover:text-text"
          >
            <Ellipsis aria-hidden className="size-4" />
          </button>
        }
      >
        <MenuItem icon={Zap} select={() => setAsked('run')}>
          Run now
        </MenuItem>
        <MenuItem icon={schedule.paused ? Play : Pause} select={turn}>
          {schedule.paused ? 'Resume' : 'Pause'}
        </MenuItem>
        {may('admin') && (
          <>
            <MenuItem icon={Pencil} select={() => setAsked('edit')}>
              Edit
            </MenuItem>
            <MenuItem isDangerous icon={Trash2} select={() => setAsked('delete')}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      {asked === 'run' && <RunSchedule schedule={schedule} run={trigger} close={close} />}
      {asked === 'edit' && <ScheduleDrawer schedule={schedule} close={close} />}
      {asked === 'delete' && <DeleteSchedule schedule={schedule} remove={remove} close={close} />}
    </>
  )
}
