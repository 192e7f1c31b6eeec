/** Queues: their settings, and how long they are cooling down. */
import {
  type DeclaredQueue,
  droppedOptions,
  effectiveQueue,
  isPerKey,
  overrideQueue,
  perKeyOnQueue,
  type QueuePatch,
  queueRecord,
  type QueueRecord,
  type QueueRow,
  type QueueSettings,
  type QueueSources,
  queueUnknown,
  resetQueue,
  writeSources,
} from 'jobmill/store'
import { ensureQueue } from './jobs/enqueue.ts'
import { limitOf } from './limits.ts'
import { type OracleState, stampOf } from './state.ts'

export function declareQueues(state: OracleState, given: readonly DeclaredQueue[]): void {
  const queues = given.filter(
    ({ name, unlessDeclared }) =>
      unlessDeclared !== true || (state.queues.get(name)?.sources.code ?? null) === null,
  )
  // All queues are checked before anything is written.
  for (const { settings } of queues) checkLimitOf(state, settings ?? {})
  for (const { name, settings: code } of queues) {
    ensureQueue(state, name)
    const queue = state.queues.get(name)
    if (queue !== undefined && code !== null) write(state, queue, { ...queue.sources, code: { ...code } })
  }
}

/** A declaration that does not change the live settings does not raise the version of the settings. */
function write(state: OracleState, queue: QueueRow, sources: QueueSources): void {
  if (writeSources(queue, sources)) state.settingsVersion += 1
}

function checkLimitOf(state: OracleState, { limit }: Partial<QueueSettings>): void {
  if (limit === undefined || limit === null) return
  if (isPerKey(limitOf(state, limit).settings)) throw perKeyOnQueue(limit)
}

export function changeQueue(
  state: OracleState,
  name: string,
  { settings, coolMs }: QueuePatch,
  by?: string,
): QueueRecord {
  const queue = queueOf(state, name)
  checkLimitOf(state, settings)
  write(state, queue, overrideQueue(queue.sources, settings, stampOf(state, by)))
  if (coolMs !== null) queue.coolUntil = state.now + coolMs
  state.settingsVersion += 1
  return queueRecord(name, queue, state.now)
}

export function resetQueueOverrides(
  state: OracleState,
  name: string,
  options: readonly string[] | null,
): string[] {
  const queue = queueOf(state, name)
  const { overrides } = queue.sources
  const sources = resetQueue(queue.sources, options)
  checkLimitOf(state, effectiveQueue(sources))
  write(state, queue, sources)
  return droppedOptions(overrides, sources.overrides)
}

function queueOf(state: OracleState, name: string): QueueRow {
  const queue = state.queues.get(name)
  if (queue === undefined) throw queueUnknown(name)
  return queue
}
