/** The actions for a process that the user's role allows: quiet, resume and stop. */
import { CircleStop } from 'lucide-react'
import { useState } from 'react'
import type { Pausing } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Instance } from '../../api/types.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { PauseButton } from '../../kit/pause-button.tsx'
import { plural, shortId } from '../../kit/text/format.ts'
import { StopInstance } from './stop-instance.tsx'

interface Props {
  readonly instance: Instance
  /** The number of its running jobs. */
  readonly running: number
}

export function InstanceActs({ instance: { id, label, requested, endedAt }, running }: Props) {
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  const name = label ?? shortId(id)
  if (!may('operator') || endedAt !== null) return null
  const disabledBecause = requested === 'stop' ? `${name} is stopping. This cannot be undone.` : undefined
  return (
    <>
      <PauseButton
        isRow={false}
        verb="Quiet"
        name={name}
        isPaused={requested === 'quiet'}
        pausing={quieting(id, name, running)}
        disabledBecause={disabledBecause}
      />
      <ActButton
        isRow={false}
        label={`Stop ${name}`}
        word="Stop"
        icon={CircleStop}
        disabledBecause={disabledBecause}
        act={() => setAsking(true)}
      />
      {isAsking && <StopInstance id={id} name={name} running={running} close={() => setAsking(false)} />}
    </>
  )
}

function quieting(id: string, name: string, running: number): Pausing {
  const rest = running === 0 ? '' : ` ${plural(running, 'running job')} will finish.`
  return {
    request: (quiet) => ({
      method: 'POST',
      path: `workers/${encodeName(id)}/${quiet ? 'quiet' : 'resume'}`,
    }),
    done: (quiet) =>
      quiet
        ? { text: `${name} is quiet`, note: `It claims no jobs until you resume it.${rest}` }
        : { text: `Resumed ${name}`, note: 'It claims jobs again.' },
  }
}
