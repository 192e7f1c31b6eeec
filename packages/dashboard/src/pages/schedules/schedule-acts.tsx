/** The actions for a schedule that the user's role allows, in a row or at the top of its page. */
import { Pencil, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { type Pausing, useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Schedule } from '../../api/types.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { Button } from '../../kit/button.tsx'
import { PauseButton } from '../../kit/pause-button.tsx'
import { DeleteSchedule } from './delete-schedule.tsx'
import { ScheduleDrawer } from './form/schedule-drawer.tsx'
import { runNow } from './run-now.ts'

interface Props {
  readonly schedule: Schedule
  readonly isRow?: boolean
}

export function ScheduleActs({ schedule, isRow = false }: Props) {
  const may = useMay()
  const { act, actNow, isActing } = useAct()
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null)
  const [, go] = useLocation()
  const { name } = schedule
  const close = (): void => setAsked(null)
  if (!may('operator')) return null
  return (
    <>
      <ActButton
        isRow={isRow}
        label={`Run now: ${name}`}
        word="Run now"
        icon={Zap}
        disabled={isActing}
        act={() => actNow(runNow(schedule))}
      />
      <PauseButton isRow={isRow} name={name} isPaused={schedule.paused} pausing={schedulePausing(name)} />
      {may('admin') && (
        <ActButton
          isRow={isRow}
          label={`Edit ${name}`}
          word="Edit"
          icon={Pencil}
          act={() => setAsked('edit')}
        />
      )}
      {may('admin') && !isRow && (
        <Button look="danger" icon={Trash2} onClick={() => setAsked('delete')}>
          Delete
        </Button>
      )}
      {asked === 'edit' && <ScheduleDrawer schedule={schedule} close={close} />}
      {asked === 'delete' && (
        <DeleteSchedule
          schedule={schedule}
          close={close}
          remove={async () => {
            await act({ method: 'DELETE', path: `schedules/${encodeName(name)}`, done: `Deleted ${name}` })
            go('/schedules')
          }}
        />
      )}
    </>
  )
}

function schedulePausing(name: string): Pausing {
  return {
    request: (paused) => ({
      method: 'POST',
      path: `schedules/${encodeName(name)}/${paused ? 'pause' : 'resume'}`,
    }),
    done: (paused) =>
      paused
        ? {
            text: `Paused ${name}`,
            note: 'It enqueues nothing until you resume it. Runs missed during the pause are skipped.',
          }
        : { text: `Resumed ${name}`, note: 'It runs at its next scheduled time.' },
  }
}
