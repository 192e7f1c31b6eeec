/** Tracks attempts that started and have no end event yet: their outcome may still have to be written. */
import type { AttemptRef, EventType, MillEvent } from '../../../job/events.ts'
import type { Mill } from '../../../runtime/mill.ts'

const ENDS = [
  'finished',
  'retried',
  'snoozed',
  'parked',
  'throttled',
  'cancelled',
  'dead',
  'interrupted',
  'lease-lost',
] as const satisfies readonly EventType[]

/** Whether the event ends the attempt. */
export function isEnd(event: MillEvent): event is MillEvent<(typeof ENDS)[number]> {
  return (ENDS as readonly EventType[]).includes(event.type)
}

/** Returns the ids of the jobs of these attempts, which change as events arrive. */
export function openAttempts(mill: Pick<Mill, 'on'>): ReadonlySet<AttemptRef['id']> {
  const open = new Set<string>()
  mill.on('*', (event) => {
    if (event.type === 'started') open.add(event.id)
    else if (isEnd(event)) open.delete(event.id)
  })
  return open
}
