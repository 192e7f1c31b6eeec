/** Confirms pausing a queue, with the number of affected jobs. */
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Counts } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { plural } from '../../kit/text/format.ts'

export function PauseQueue({ counts, close }: { readonly counts: Counts; readonly close: () => void }) {
  const { act } = useAct()
  const { queue, ready, scheduled, running } = counts
  return (
    <Confirm
      title={`Pause ${queue}?`}
      verb="Pause queue"
      close={close}
      act={() => act({ method: 'POST', path: `queues/${encodeName(queue)}/pause`, done: `Paused ${queue}` })}
    >
      <p>
        {plural(ready, 'ready job')} and {plural(scheduled, 'scheduled job')} will wait until the queue is
        resumed.
      </p>
      <p className="text-soft">
        {running === 0 ? 'No jobs are running.' : `${plural(running, 'running job')} will finish.`} Jobs can
        still be enqueued.
      </p>
    </Confirm>
  )
}
