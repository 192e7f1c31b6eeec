/** Asks before a queue is paused, with what waits there. */
import { useAct } from '../../api/acts.ts'
import { named } from '../../api/client.ts'
import type { Counts } from '../../api/types/mill.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { number, plural } from '../../kit/format.ts'

export function PauseQueue({ counts, close }: { readonly counts: Counts; readonly close: () => void }) {
  const { act } = useAct()
  const { queue, ready, scheduled, running } = counts
  return (
    <Confirm
      title={`Pause ${queue}?`}
      verb="Pause"
      close={close}
      act={() => act({ method: 'POST', path: `queues/${named(queue)}/pause`, done: `Paused ${queue}` })}
    >
      <p>
        {plural(ready, 'ready job')} and {number(scheduled)} scheduled will wait until somebody resumes it.
      </p>
      <p className="text-soft">
        {running === 0
          ? 'None of its jobs runs now.'
          : `${plural(running, 'running job')} will go on to the end.`}{' '}
        Jobs can still be enqueued.
      </p>
    </Confirm>
  )
}
