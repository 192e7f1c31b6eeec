/** Pauses or resumes a group, with the consequences for its jobs. */
import type { Pausing } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { Group } from '../../../api/types.ts'
import { number, plural } from '../../../kit/text/format.ts'

export const groupPath = (queue: string, group: string): string =>
  `queues/${encodeName(queue)}/groups/${encodeName(group)}`

export const groupPausing = (queue: string, group: Group): Pausing => ({
  request: (paused) => ({ method: 'PATCH', path: groupPath(queue, group.name), body: { paused } }),
  done: (paused) =>
    paused
      ? { text: `Paused group ${group.name}`, note: 'None of its jobs starts until you resume it.' }
      : { text: `Resumed group ${group.name}`, note: `${plural(group.waiting, 'waiting job')} can start.` },
})

/** The store counts waiting jobs only so far. */
const COUNTED = 10_000

/** "12", "10,000+" */
export const waitingText = (waiting: number): string =>
  waiting >= COUNTED ? `${number(COUNTED)}+` : number(waiting)
