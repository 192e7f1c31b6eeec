/**
 * Queues and kinds as ids, so that the narrow tables stay narrow. A statement that uses a cached id passes the version under which the id was read, and
 * does nothing when the database does not have that version: see schema/names.ts. New names are written outside any transaction of the user: an
 * open one would block every other process that uses the same queue for the first time.
 */
import { JobmillError } from '../job/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../job/queue-settings.ts'
import type { Connection, Query, Row } from './connection.ts'
import { type NameMap, nameMap, NO_VERSION } from './name-map.ts'
import { type MissingNames, NamesChanged } from './names-changed.ts'

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

/** Under the id that its jobs refer to. */
const PUT_BACK = `
INSERT INTO jobmill.queue (id, name, workers, paused, backoff_enabled, backoff_base_ms, backoff_max_ms,
                           retain_done_ms, retain_cancelled_ms, retain_dead_ms, declared) OVERRIDING SYSTEM VALUE
SELECT v.id, v.name, $3::int4, $4::bool, $5::bool, $6::int8, $7::int8, $8::int8, $9::int8, $10::int8, false
  FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    ON CONFLICT DO NOTHING RETURNING name`

/** One statement, so one snapshot: the last version stands for exactly these names. `known`: whether the version from before is still true. */
const ALL = `
SELECT 'queue' AS what, id, name, NULL::bool AS known FROM jobmill.queue
UNION ALL
SELECT 'kind', id, name, NULL FROM jobmill.kind
UNION ALL
SELECT 'version', NULL, v.version::text, EXISTS (SELECT FROM jobmill.names AS k WHERE k.version = $1::text::uuid)
  FROM (SELECT l.version FROM jobmill.names AS l ORDER BY l.n DESC, l.version LIMIT 1) AS v`

/** The table was emptied by hand. */
const ADD_VERSION = `SELECT jobmill.add_names_version() WHERE NOT EXISTS (SELECT FROM jobmill.names)`

const LATEST = `SELECT version::text AS version FROM jobmill.names ORDER BY n DESC, version LIMIT 1`
const HAS_BOTH = `
SELECT EXISTS (SELECT FROM jobmill.names WHERE version = $1::text::uuid)
   AND EXISTS (SELECT FROM jobmill.names WHERE version = $2::text::uuid) AS found`

type JobName = { readonly queue: string; readonly kind: string }

export interface Names {
  /** What is known now. Another object once the database was replaced: who has ids in hand keeps the one that they came with. */
  readonly current: NameMap
  /** Makes sure that all of these have ids. */
  ensure(queues: ReadonlySet<string>, kinds: ReadonlySet<string>): Promise<void>
  /** Whether all of these have ids that are known here. */
  knows(queues: ReadonlySet<string>, kinds: ReadonlySet<string>): boolean
  /** The same, of the names of these jobs. */
  knowsAllOf(jobs: readonly JobName[]): boolean
  /** Of names that were ensured. */
  queueId(name: string): number
  kindId(name: string): number
  kindIdIfKnown(name: string): number | undefined
  /** Makes ids known that came with `map.version`. Throws NamesChanged when the database was replaced since. */
  learn(map: NameMap, queueIds: Iterable<number>, kindIds: Iterable<number>): Promise<void>
  /** Reads all names again, and makes sure of these. */
  reload(missing: MissingNames): Promise<void>
  /**
   * Inserts again the queues that this process knows and that are not among these. Their rows were deleted while triggers were off: otherwise the version
   * would have changed. No process claims the jobs of a queue without its row. True when the queues have to be read again.
   */
  putBackQueues(found: ReadonlySet<string>): Promise<boolean>
  /** The same names under the version that a transaction of the user sees. Throws STORE_BUSY when that is another history than ours. */
  seenBy(query: Query): Promise<Names>
}

export interface NamesOptions {
  readonly connection: Connection
  readonly sql: (text: string) => string
  /** The ids that were known belong to another history: the database was restored, recreated or emptied. */
  readonly replaced: () => Promise<void>
}

export function namesOf({ connection, sql, replaced }: NamesOptions): Names {
  let current = nameMap(NO_VERSION)

  async function load(): Promise<readonly Row[]> {
    const before = current
    let rows = await connection.query(sql(ALL), [before.version])
    let version = rows.find((row) => row['what'] === 'version')
    if (version === undefined) {
      await connection.query(sql(ADD_VERSION), [])
      rows = await connection.query(sql(ALL), [before.version])
      version = rows.find((row) => row['what'] === 'version')
    }
    const isSame = version?.['known'] === true
    const map = isSame ? before : nameMap(NO_VERSION)
    for (const row of rows) {
      if (row['what'] === 'queue') map.queues.add(String(row['name']), Number(row['id']))
      if (row['what'] === 'kind') map.kinds.add(String(row['name']), Number(row['id']))
    }
    map.version = (version?.['name'] as string | undefined) ?? NO_VERSION
    if (isSame || current !== before) return rows
    current = map
    if (before.version !== NO_VERSION) await replaced()
    return rows
  }

  async function ensure(queueNames: ReadonlySet<string>, kindNames: ReadonlySet<string>): Promise<void> {
    if (knows(queueNames, kindNames)) return
    await load()
    const [newQueues, newKinds] = [current.queues.missing(queueNames), current.kinds.missing(kindNames)]
    if (newQueues.length > 0) await connection.query(sql(ADD_QUEUES), [newQueues, ...defaultSettings()])
    if (newKinds.length > 0) await connection.query(sql(ADD_KINDS), [newKinds])
    if (newQueues.length + newKinds.length > 0) await load()
  }

  function knows(queueNames: ReadonlySet<string>, kindNames: ReadonlySet<string>): boolean {
    return current.queues.missing(queueNames).length + current.kinds.missing(kindNames).length === 0
  }

  const names: Names = {
    get current() {
      return current
    },
    ensure,
    knows,
    ...idsOf(() => current),
    async learn(map, queueIds, kindIds) {
      if (map.queues.knowsAll(queueIds) && map.kinds.knowsAll(kindIds)) return
      await load()
      if (current !== map) throw new NamesChanged()
    },
    async reload({ queues, kinds }) {
      await load()
      await ensure(new Set(queues), new Set(kinds))
    },
    async putBackQueues(found) {
      if (current.queues.beyond(found).length === 0) return false
      const before = current
      const rows = await load()
      const there = rows.flatMap((row) => (row['what'] === 'queue' ? [String(row['name'])] : []))
      const gone = current.queues.beyond(new Set(there))
      // Another call, or another process, was faster: its rows are there to be read.
      if (current !== before || gone.length === 0) return true
      const columns = [gone.map(([, id]) => id), gone.map(([name]) => name)]
      const added = await connection.query(sql(PUT_BACK), [...columns, ...defaultSettings()])
      if (added.length > 0) warnPutBack(added.map((row) => String(row['name'])))
      return true
    },
    async seenBy(query) {
      const [row] = await query(sql(LATEST), [])
      const version = (row?.['version'] as string | undefined) ?? NO_VERSION
      await load()
      const map = { ...current, version }
      const [both] = await connection.query(sql(HAS_BOTH), [version, current.version])
      if (both?.['found'] !== true) throw otherHistory()
      return { ...names, current: map, ...idsOf(() => map) }
    },
  }
  return names
}

function warnPutBack(queues: readonly string[]): void {
  const what = `rows of the table "queue" were deleted and are put back with default settings: ${queues.join(', ')}`
  const fix =
    'Restart the processes that declare them, and set overrides again. Never delete rows from this table'
  process.emitWarning(`${what}. ${fix}.`, { type: 'JobmillWarning', code: 'QUEUES_RESTORED' })
}

function otherHistory(): JobmillError {
  return new JobmillError('STORE_BUSY', 'the transaction sees another database than the store', {
    field: 'tx',
    fix: 'Roll back and try again. Connect the store and the transaction to the same database',
  })
}

function idsOf(map: () => NameMap): Pick<Names, 'knowsAllOf' | 'queueId' | 'kindId' | 'kindIdIfKnown'> {
  return {
    knowsAllOf: (jobs) =>
      jobs.every(
        ({ queue, kind }) =>
          map().queues.idIfKnown(queue) !== undefined && map().kinds.idIfKnown(kind) !== undefined,
      ),
    queueId: (name) => map().queues.id(name),
    kindId: (name) => map().kinds.id(name),
    kindIdIfKnown: (name) => map().kinds.idIfKnown(name),
  }
}

function defaultSettings(): unknown[] {
  const s = DEFAULT_QUEUE_SETTINGS
  return [
    s.workers,
    s.paused,
    s.backoffEnabled,
    s.backoffBaseMs,
    s.backoffMaxMs,
    s.retainDoneMs,
    s.retainCancelledMs,
    s.retainDeadMs,
  ]
}
