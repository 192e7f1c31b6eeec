/** The actions on a schedule. The caller asks for confirmation where it is needed. */
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Answer, Schedule } from '../../api/types.ts'
import { shortId } from '../../kit/text/format.ts'

interface ScheduleActs {
  readonly isActing: boolean
  readonly turn: () => void
  /** The schedule stays on the page; the message names the job. */
  readonly trigger: () => Promise<unknown>
  readonly remove: () => Promise<unknown>
}

// The error was already shown as a toast.
const quietly = (done: Promise<unknown>): void => void done.catch(() => {})

export function useScheduleActs({ name, paused }: Schedule): ScheduleActs {
  const plain = useAct()
  const triggering = useAct<Answer<'schedules.trigger'>>()
  const path = `schedules/${encodeName(name)}`
  return {
    isActing: plain.isActing || triggering.isActing,
    turn: () =>
      quietly(
        plain.act({
          method: 'POST',
          path: `${path}/${paused ? 'resume' : 'pause'}`,
          done: `${paused ? 'Resumed' : 'Paused'} ${name}`,
        }),
      ),
    trigger: () =>
      triggering.act({
        method: 'POST',
        path: `${path}/trigger`,
        done: ({ outcome, job }) =>
          outcome === 'enqueued'
            ? `Enqueued job ${shortId(job)} for ${name}`
            : `Skipped: the previous job of ${name} still waits or runs`,
      }),
    remove: () => plain.act({ method: 'DELETE', path, done: `Deleted ${name}` }),
  }
}
