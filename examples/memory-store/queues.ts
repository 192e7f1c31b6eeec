// The settings of queues: what code declares, and what operators override.
import {
  type DeclaredQueue,
  droppedOptions,
  effectiveQueue,
  isSameQueue,
  limitUnknown,
  type Overridable,
  type OverrideRecord,
  overrideQueue,
  queueOverrides,
  type QueuePatch,
  type QueueRecord,
  type QueueSettings,
  type QueueSources,
  queueUnknown,
  resetQueue,
  scheduleUnknown,
} from 'jobmill/store'
import { byName, type Database, ensureQueue, type Queue } from './database.ts'

export function declareQueues(db: Database, declared: readonly DeclaredQueue[]): void {
  // Check everything before the first write: a call is applied as a whole or not at all.
  for (const { settings } of declared) refuseLimit(settings ?? {})
  for (const { name, settings: code } of declared) {
    if (!db.queues.has(name)) db.settingsVersion += 1
    const queue = ensureQueue(db, name)
    if (code !== null) write(db, queue, { ...queue.sources, code: { ...code } })
  }
}

export function changeQueue(
  db: Database,
  now: number,
  name: string,
  { settings, coolMs }: QueuePatch,
  by: string | null,
): QueueRecord {
  const queue = queueOf(db, name)
  refuseLimit(settings)
  write(db, queue, overrideQueue(queue.sources, settings, { by, at: now }))
  if (coolMs !== null) queue.coolUntil = now + coolMs
  db.settingsVersion += 1
  return recordOf(now, name, queue)
}

function write(db: Database, queue: Queue, sources: QueueSources): void {
  const settings = effectiveQueue(sources)
  if (!isSameQueue(queue.settings, settings)) db.settingsVersion += 1
  Object.assign(queue, { settings, sources })
}

/** This store has no limits, so every limit is unknown. */
function refuseLimit({ limit }: Partial<QueueSettings>): void {
  if (typeof limit === 'string') throw limitUnknown(limit)
}

function queueOf(db: Database, name: string): Queue {
  const queue = db.queues.get(name)
  if (queue === undefined) throw queueUnknown(name)
  return queue
}

const recordOf = (now: number, name: string, { settings, coolUntil, throttles }: Queue): QueueRecord => ({
  name,
  ...settings,
  coolingMs: Math.max(0, coolUntil - now),
  throttles,
})

export const queues = (db: Database, now: number): QueueRecord[] =>
  byName(db.queues).map(([name, queue]) => recordOf(now, name, queue))

export const overrides = (db: Database): OverrideRecord[] =>
  byName(db.queues).flatMap(([name, { sources }]) => queueOverrides(name, sources))

export function resetOverrides(
  db: Database,
  what: Overridable,
  name: string,
  options: readonly string[] | null,
): string[] {
  if (what === 'limit') throw limitUnknown(name)
  if (what === 'schedule') throw scheduleUnknown(name)
  const queue = queueOf(db, name)
  const before = queue.sources.overrides
  write(db, queue, resetQueue(queue.sources, options))
  return droppedOptions(before, queue.sources.overrides).toSorted()
}
