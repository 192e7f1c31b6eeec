/** The actions on a queue that need no confirmation, with their consequences for its jobs. */
import type { Act, Pausing } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Counts } from '../../api/types.ts'
import { number, plural } from '../../kit/text/format.ts'

export function queuePausing(counts: Counts): Pausing {
  const { queue } = counts
  return {
    request: (paused) => ({
      method: 'POST',
      path: `queues/${encodeName(queue)}/${paused ? 'pause' : 'resume'}`,
    }),
    done: (paused) =>
      paused
        ? { text: `Paused ${queue}`, note: pausedNote(counts) }
        : { text: `Resumed ${queue}`, note: resumedNote(counts) },
  }
}

export const endCoolDown = (queue: string): Act => ({
  method: 'PATCH',
  path: `queues/${encodeName(queue)}`,
  body: { coolFor: 0 },
  done: { text: `Ended the cool-down of ${queue}`, note: 'Its workers claim jobs again.' },
})

/** "3 ready and 15 scheduled jobs wait until you resume it. 2 running jobs will finish." */
function pausedNote({ ready, scheduled, running }: Counts): string {
  const waits = ready + scheduled
  const jobs = waitingText(ready, scheduled)
  const wait = `${jobs} ${waits === 1 ? 'waits' : 'wait'} until you resume it.`
  return running === 0 ? wait : `${wait} ${plural(running, 'running job')} will finish.`
}

function waitingText(ready: number, scheduled: number): string {
  if (ready === 0 && scheduled === 0) return 'New jobs'
  if (scheduled === 0) return plural(ready, 'ready job')
  if (ready === 0) return plural(scheduled, 'scheduled job')
  return `${number(ready)} ready and ${plural(scheduled, 'scheduled job')}`
}

function resumedNote({ ready, scheduled }: Counts): string {
  if (ready > 0) return `${plural(ready, 'ready job')} can start.`
  if (scheduled === 0) return 'New jobs start immediately.'
  return `${plural(scheduled, 'scheduled job')} will start when due.`
}
