/** Queues: their settings, and how long they still cool down. */
import { JobmillError, shown } from '../../job/errors.ts'
import { isPerKey } from '../../job/limit.ts'
import { type QueuePatch, type QueueSettings, saysMore } from '../../job/queue-settings.ts'
import { perKeyOnQueue } from '../../store/cluster-errors.ts'
import type { QueueRecord } from '../../store/queue-record.ts'
import { ensureQueue } from './enqueue.ts'
import { limitOf } from './limits.ts'
import type { OracleQueue, OracleState } from './state.ts'

export function declareQueues(
  state: OracleState,
  queues: readonly { readonly name: string; readonly settings: QueueSettings }[],
): void {
  // Before anything is written.
  for (const { settings } of queues) checkLimitOf(state, settings)
  for (const { name, settings } of queues) {
    const before = state.queues.get(name)
    if (before === undefined) ensureQueue(state, name, settings)
    else if (!before.declared && saysMore(settings)) {
      Object.assign(before, { settings, declared: true })
      state.settingsVersion += 1
    }
  }
}

function checkLimitOf(state: OracleState, { limit }: Partial<QueueSettings>): void {
  if (limit === undefined || limit === null) return
  if (isPerKey(limitOf(state, limit).settings)) throw perKeyOnQueue(limit)
}

export function changeQueue(state: OracleState, now: number, name: string, patch: QueuePatch): QueueRecord {
  const queue = state.queues.get(name)
  if (queue === undefined)
    throw new JobmillError('QUEUE_UNKNOWN', 'no queue has this name', { value: shown(name) })
  checkLimitOf(state, patch.settings)
  queue.settings = { ...queue.settings, ...patch.settings }
  queue.declared = true
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
