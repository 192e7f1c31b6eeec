/** The free worker slots of a request per queue; a queue that is listed twice adds up. */
import type { ClaimRequest } from '../../store/types/claim.ts'

export function roomByQueue(queues: ClaimRequest['queues']): Map<string, number> {
  const rooms = new Map<string, number>()
  for (const { queue, room } of queues) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  return rooms
}
