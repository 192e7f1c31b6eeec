/** Confirms stopping a process, with the number of its running jobs. */
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { plural } from '../../kit/text/format.ts'

interface Props {
  readonly id: string
  readonly name: string
  readonly running: number
  readonly close: () => void
}

export function StopInstance({ id, name, running, close }: Props) {
  const { act } = useAct()
  return (
    <Confirm
      title={`Stop ${name}?`}
      verb="Stop process"
      isDangerous
      close={close}
      act={() =>
        act({ method: 'POST', path: `workers/${encodeName(id)}/stop`, done: `Stop requested for ${name}` })
      }
    >
      <p>
        {running === 0
          ? 'No jobs are running on it.'
          : `${plural(running, 'running job')} can finish within the grace period. Jobs that do not finish return to their queues.`}
      </p>
      <p className="text-soft">
        The process shuts down as on SIGTERM. This cannot be undone: start a new process to get its workers
        back.
      </p>
    </Confirm>
  )
}
