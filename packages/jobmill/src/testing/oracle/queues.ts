/** Queues: their settings, and how long they still cool down. */
import { JobmillError, shown } from '../../job/errors.ts'
import type { QueuePatch } from '../../job/queue-settings.ts'
import type { QueueRecord } from '../../store/queue-record.ts'
import type { OracleQueue, OracleState } from './state.ts'

export function changeQueue(state: OracleState, now: number, name: string, patch: QueuePatch): QueueRecord {
  const queue = state.queues.get(name)
  if (queue === undefined)
    throw new JobmillError('QUEUE_UNKNOWN', 'no queue has this name', { value: shown(name) })
  queue.settings = { ...queue.settings, ...patch.settings }
  if (patch.coolMs !== null) queue.coolUntil = now + patch.coolMs
  state.settingsVersion += 1
  return queueRecord(now, name, queue)
}

export function queueRecord(now: number, name: string, queue: OracleQueue): QueueRecord {
  return {
    name,
    ...queue.settings,
    coolingMs: Math.max(0, queue.coolUntil - now),
    throttles: queue.throttles,
  }
}
