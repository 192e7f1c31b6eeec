/** Which attempts a mill began and has not told the end of: their outcome may still have to be written. */
import type { AttemptRef, EventType, MillEvent } from '../../job/events.ts'
import type { Mill } from '../../runtime/mill.ts'

const ENDS = [
  'finished',
  'retried',
  'snoozed',
  'throttled',
  'cancelled',
  'dead',
  'interrupted',
  'lease-lost',
] as const satisfies readonly EventType[]

/** The attempt is over, and nothing more will happen to the job at this time. */
export function isEnd(event: MillEvent): event is MillEvent<(typeof ENDS)[number]> {
  return (ENDS as readonly EventType[]).includes(event.type)
}

/** The ids of their jobs. */
export function openAttempts(mill: Pick<Mill, 'on'>): ReadonlySet<AttemptRef['id']> {
  const open = new Set<string>()
  mill.on('*', (event) => {
    if (event.type === 'started') open.add(event.id)
    else if (isEnd(event)) open.delete(event.id)
  })
  return open
}
