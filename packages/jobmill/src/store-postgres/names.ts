/**
 * Queues and kinds as numbers, so that the narrow tables stay narrow. Names are never removed, so what was
 * read once stays true. New ones are written outside any transaction of the user's: an open one would make
 * everybody else wait who names the same queue for the first time.
 */
import { DEFAULT_QUEUE_SETTINGS } from '../job/queue-settings.ts'
import type { Connection, Query } from './connection.ts'

const ADD_KINDS = `
INSERT INTO jobmill.kind (name)
SELECT DISTINCT v.name FROM unnest($1::text[]) AS v(name)
 WHERE NOT EXISTS (SELECT FROM jobmill.kind AS k WHERE k.name = v.name)
    ON CONFLICT (name) DO NOTHING`

const ADD_QUEUES = `
INSERT INTO jobmill.queue (name, workers, paused, backoff_enabled, backoff_base_ms, backoff_max_ms,
                           retain_done_ms, retain_cancelled_ms, retain_dead_ms, declared)
SELECT DISTINCT v.name, $2::int4, $3::bool, $4::bool, $5::int8, $6::int8, $7::int8, $8::int8, $9::int8, false
  FROM unnest($1::text[]) AS v(name)
 WHERE NOT EXISTS (SELECT FROM jobmill.queue AS q WHERE q.name = v.name)
    ON CONFLICT (name) DO NOTHING`

const ALL = `
SELECT 'queue' AS what, id, name FROM jobmill.queue
UNION ALL
SELECT 'kind', id, name FROM jobmill.kind`

export interface Names {
  /** Makes sure that all of these have numbers. */
  ensure(queues: ReadonlySet<string>, kinds: ReadonlySet<string>): Promise<void>
  /** Whether all of these have numbers that are known here. */
  knows(queues: ReadonlySet<string>, kinds: ReadonlySet<string>): boolean
  /** The same, of the names of these jobs. */
  knowsAllOf(jobs: readonly { readonly queue: string; readonly kind: string }[]): boolean
  /** Of names that were ensured. */
  queueId(name: string): number
  kindId(name: string): number
  queueIdIfKnown(name: string): number | undefined
  kindIdIfKnown(name: string): number | undefined
  /** Reads the names of numbers that came from the database. */
  learn(queueIds: Iterable<number>, kindIds: Iterable<number>): Promise<void>
  /** Reads all names anew, through a transaction: another connection may not be there to be had. */
  learnAll(query: Query): Promise<void>
  knowsIds(queueId: number, kindId: number): boolean
  queueName(id: number): string
  kindName(id: number): string
}

export function namesOf(connection: Connection, sql: (text: string) => string): Names {
  const queues = twoWay()
  const kinds = twoWay()

  async function load(query: Query = connection.query): Promise<void> {
    for (const row of await query(sql(ALL), [])) {
      const names = row['what'] === 'queue' ? queues : kinds
      names.add(String(row['name']), Number(row['id']))
    }
  }

  function knows(queueNames: ReadonlySet<string>, kindNames: ReadonlySet<string>): boolean {
    return queues.missing(queueNames).length + kinds.missing(kindNames).length === 0
  }

  return {
    knows,
    knowsAllOf: (jobs) =>
      jobs.every(
        ({ queue, kind }) => queues.idIfKnown(queue) !== undefined && kinds.idIfKnown(kind) !== undefined,
      ),
    async ensure(queueNames, kindNames) {
      if (knows(queueNames, kindNames)) return
      await load()
      const [newQueues, newKinds] = [queues.missing(queueNames), kinds.missing(kindNames)]
      const s = DEFAULT_QUEUE_SETTINGS
      if (newQueues.length > 0) {
        await connection.query(sql(ADD_QUEUES), [
          newQueues,
          s.workers,
          s.paused,
          s.backoffEnabled,
          s.backoffBaseMs,
          s.backoffMaxMs,
          s.retainDoneMs,
          s.retainCancelledMs,
          s.retainDeadMs,
        ])
      }
      if (newKinds.length > 0) await connection.query(sql(ADD_KINDS), [newKinds])
      if (newQueues.length + newKinds.length > 0) await load()
    },
    async learn(queueIds, kindIds) {
      if (queues.knowsAll(queueIds) && kinds.knowsAll(kindIds)) return
      await load()
    },
    learnAll: load,
    knowsIds: (queueId, kindId) => queues.knows(queueId) && kinds.knows(kindId),
    queueId: (name) => queues.id(name),
    kindId: (name) => kinds.id(name),
    queueIdIfKnown: (name) => queues.idIfKnown(name),
    kindIdIfKnown: (name) => kinds.idIfKnown(name),
    queueName: (id) => queues.name(id),
    kindName: (id) => kinds.name(id),
  }
}

interface TwoWay {
  add(name: string, id: number): void
  missing(names: ReadonlySet<string>): string[]
  knows(id: number): boolean
  knowsAll(ids: Iterable<number>): boolean
  id(name: string): number
  idIfKnown(name: string): number | undefined
  name(id: number): string
}

function twoWay(): TwoWay {
  const ids = new Map<string, number>()
  const names = new Map<number, string>()
  return {
    add(name, id) {
      ids.set(name, id)
      names.set(id, name)
    },
    missing: (wanted) => [...wanted].filter((name) => !ids.has(name)),
    knows: (id) => names.has(id),
    knowsAll: (wanted) => [...wanted].every((id) => names.has(id)),
    idIfKnown: (name) => ids.get(name),
    id(name) {
      const id = ids.get(name)
      if (id === undefined) throw new RangeError(`the name ${name} was not ensured`)
      return id
    },
    name(id) {
      const name = names.get(id)
      if (name === undefined) throw new RangeError(`no name has the number ${id}`)
      return name
    },
  }
}
