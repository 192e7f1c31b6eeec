/**
 * Maps queue and kind names to the ids that rows contain. A store caches the pairs, which never change. A
 * pair is cached only after its transaction commits: a rolled back id may go to another name.
 */
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../job/queue/queue-settings.ts'
import type { Sql, Value } from './connection/handle.ts'

// Each by its unique index.
const QUEUE_BY_NAME = `SELECT id, name FROM jobmill_queue WHERE name = ?`
const QUEUE_BY_ID = `SELECT id, name FROM jobmill_queue WHERE id = ?`
const KIND_BY_NAME = `SELECT id, name FROM jobmill_kind WHERE name = ?`
const KIND_BY_ID = `SELECT id, name FROM jobmill_kind WHERE id = ?`
const NEW_KIND = `INSERT INTO jobmill_kind (name) VALUES (?)`
const NEW_QUEUE = `
  INSERT INTO jobmill_queue (name, workers, paused, backoff_enabled, backoff_base_ms, backoff_max_ms,
    retain_done_ms, retain_cancelled_ms, retain_dead_ms, keep_done, keep_cancelled, keep_dead, limit_id, declared)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`

class Pairs {
  readonly ids = new Map<string, number>()
  readonly names = new Map<number, string>()

  add(id: number, name: string): void {
    this.ids.set(name, id)
    this.names.set(id, name)
  }

  clear(): void {
    this.ids.clear()
    this.names.clear()
  }

  addAll(others: Pairs): void {
    for (const [name, id] of others.ids) this.add(id, name)
  }
}

export class NameCache {
  readonly queues = new Pairs()
  readonly kinds = new Pairs()

  clear(): void {
    this.queues.clear()
    this.kinds.clear()
  }
}

export interface Names {
  /** Undefined when the name does not exist. */
  findQueue(name: string): number | undefined
  findKind(name: string): number | undefined
  /** Creates it if necessary. */
  needQueue(name: string): number
  needKind(name: string): number
  queueName(id: number): string
  kindName(id: number): string
  /** Adds the learned pairs to the cache. Call it after the commit, or if nothing was written. */
  keep(): void
}

export function namesOn(sql: Sql, cache: NameCache): Names {
  const learned = new NameCache()
  const find = (
    which: 'queues' | 'kinds',
    text: string,
    asked: Value,
  ): { id: number; name: string } | undefined => {
    const row = sql(text).get(asked) as { id: number; name: string } | undefined
    if (row !== undefined) learned[which].add(row.id, row.name)
    return row
  }
  const idOf = (which: 'queues' | 'kinds', text: string, name: string): number | undefined =>
    cache[which].ids.get(name) ?? learned[which].ids.get(name) ?? find(which, text, name)?.id
  const nameOf = (which: 'queues' | 'kinds', text: string, id: number): string =>
    cache[which].names.get(id) ?? learned[which].names.get(id) ?? find(which, text, id)?.name ?? ''
  return {
    findQueue: (name) => idOf('queues', QUEUE_BY_NAME, name),
    findKind: (name) => idOf('kinds', KIND_BY_NAME, name),
    queueName: (id) => nameOf('queues', QUEUE_BY_ID, id),
    kindName: (id) => nameOf('kinds', KIND_BY_ID, id),
    needQueue(name) {
      const known = idOf('queues', QUEUE_BY_NAME, name)
      if (known !== undefined) return known
      createQueue(sql, name)
      return idOf('queues', QUEUE_BY_NAME, name) ?? 0
    },
    needKind(name) {
      const known = idOf('kinds', KIND_BY_NAME, name)
      if (known !== undefined) return known
      sql(NEW_KIND).run(name)
      return idOf('kinds', KIND_BY_NAME, name) ?? 0
    },
    keep() {
      cache.queues.addAll(learned.queues)
      cache.kinds.addAll(learned.kinds)
    },
  }
}

/** Creates a queue with the defaults, which apply until code or an operator sets options. */
export function createQueue(sql: Sql, name: string): void {
  sql(NEW_QUEUE).run(name, ...settingValues(DEFAULT_QUEUE_SETTINGS, null))
}

/** Returns the settings in the column order of the statements. */
export function settingValues(settings: QueueSettings, limitId: number | null): Value[] {
  return [
    settings.workers,
    Number(settings.paused),
    Number(settings.backoffEnabled),
    settings.backoffBaseMs,
    settings.backoffMaxMs,
    settings.retainDoneMs,
    settings.retainCancelledMs,
    settings.retainDeadMs,
    settings.keepDone,
    settings.keepCancelled,
    settings.keepDead,
    limitId,
  ]
}
