/**
 * Maps queue and kind names to the ids that rows contain. A store caches the pairs, which never change. A
 * pair is cached only after its transaction commits: a rolled back id may go to another name.
 */
import { parseKind } from '../job/kind/kind-name.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../job/queue/queue-settings.ts'
import type { Sql, Value } from './connection/handle.ts'
import { COLUMNS, settingValues } from './queues/setting-columns.ts'

const NEW_KIND = `INSERT INTO jobmill_kind (name) VALUES (?)`
const NEW_QUEUE = `
  INSERT INTO jobmill_queue (name, ${COLUMNS.join(', ')}) VALUES (?, ${COLUMNS.map(() => '?').join(', ')})`

// Versions of a kind are named `kind@version`. Scans that range of the unique index: 'A' follows '@'.
const VERSIONS = `SELECT id FROM jobmill_kind WHERE name = ? OR (name > ? || '@' AND name < ? || 'A')`

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

export type Names = ReturnType<typeof namesOn>

export function namesOn(sql: Sql, cache: NameCache) {
  const queues = pairsOn(sql, 'queue', cache.queues, (name) => createQueue(sql, name))
  const kinds = pairsOn(sql, 'kind', cache.kinds, (name) => sql(NEW_KIND).run(name))
  return {
    /** Undefined when the name does not exist. */
    findQueue: queues.find,
    findKind: kinds.find,
    /** The ids of a kind and of its versions. None for the name of a version. */
    findVersions: (kind: string): number[] =>
      parseKind(kind).kind === kind
        ? (sql(VERSIONS).all(kind, kind, kind) as { id: number }[]).map(({ id }) => id)
        : [],
    /** Creates it if necessary. */
    needQueue: queues.need,
    needKind: kinds.need,
    queueName: queues.nameOf,
    /** With the version, as `storedKind` writes it. */
    storedKind: kinds.nameOf,
    kindName: (id: number): string => parseKind(kinds.nameOf(id)).kind,
    /** Adds the learned pairs to the cache. Call it after the commit, or if nothing was written. */
    updateCache(): void {
      cache.queues.addAll(queues.learned)
      cache.kinds.addAll(kinds.learned)
    },
  }
}

function pairsOn(sql: Sql, table: 'queue' | 'kind', cache: Pairs, create: (name: string) => void) {
  const learned = new Pairs()
  // Both columns have a unique index.
  const read = (column: 'id' | 'name', asked: Value): { id: number; name: string } | undefined => {
    const text = `SELECT id, name FROM jobmill_${table} WHERE ${column} = ?`
    const row = sql(text).get(asked) as { id: number; name: string } | undefined
    if (row !== undefined) learned.add(row.id, row.name)
    return row
  }
  const find = (name: string): number | undefined =>
    cache.ids.get(name) ?? learned.ids.get(name) ?? read('name', name)?.id
  const need = (name: string): number => {
    const known = find(name)
    if (known !== undefined) return known
    create(name)
    return find(name) ?? 0
  }
  const nameOf = (id: number): string =>
    cache.names.get(id) ?? learned.names.get(id) ?? read('id', id)?.name ?? ''
  return { learned, find, need, nameOf }
}

/** Creates a queue with the defaults, which apply until code or an operator sets options. */
export function createQueue(sql: Sql, name: string): void {
  sql(NEW_QUEUE).run(name, ...settingValues(DEFAULT_QUEUE_SETTINGS, null))
}
