/** The actions for a process that the user's role allows: quiet, resume and stop. */
import { CircleStop, Ellipsis, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Instance } from '../../api/types.ts'
import { Menu, MenuItem } from '../../kit/overlays/menu.tsx'
import { shortId } from '../../kit/text/format.ts'
import { StopInstance } from './stop-instance.tsx'

interface Props {
  readonly instance: Instance
  /** The number of its running jobs. */
  readonly running: number
}

export function InstanceActs({ instance, running }: Props) {
  const may = useMay()
  const { act, isActing } = useAct()
  const [isAsking, setAsking] = useState(false)
  const { id, label, requested, endedAt } = instance
  const name = label ?? shortId(id)
  // A stop cannot be withdrawn.
  if (!may('operator') || endedAt !== null || requested === 'stop') return null
  const request = (verb: 'quiet' | 'resume', done: string): void => {
    // The error was already shown as a toast.
    void act({ method: 'POST', path: `workers/${encodeName(id)}/${verb}`, done }).catch(() => undefined)
  }
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            aria-label={`Actions for ${name}`}
            disabled={isActing}
            className="inline-flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunk hover:text-text"
          >
            <Ellipsis aria-hidden className="size-4" />
          </button>
        }
      >
        {requested === 'quiet' ? (
          <MenuItem icon={Play} select={() => request('resume', `Resumed ${name}`)}>
            Resume
          </MenuItem>
        ) : (
          <MenuItem
            icon={Pause}
            select={() => request('quiet', `${name} is quiet: it claims no jobs, and running jobs finish`)}
          >
            Quiet
          </MenuItem>
        )}
        <MenuItem isDangerous icon={CircleStop} select={() => setAsking(true)}>
          Stop…
        </MenuItem>
      </Menu>
      {isAsking && <StopInstance id={id} name={name} running={running} close={() => setAsking(false)} />}
    </>
  )
}
