/**
 * Queues and kinds as ids, so that the narrow tables stay narrow. A statement that uses a cached id passes the version under which the id was read, and
 * does nothing when the database does not have that version: see schema/names.ts. New names are written outside any transaction of the user: an
 * open one would block every other process that uses the same queue for the first time.
 */
import { JobmillError } from '../job/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../job/queue-settings.ts'
import type { Platform } from '../platform/platform.ts'
import type { Connection, Query } from './connection.ts'
import { type MutableNameMap, type NameMap, nameMap, NO_VERSION } from './name-map.ts'
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

/** Under the ids that jobs refer to. */
const PUT_BACK_QUEUES = `
INSERT INTO jobmill.queue (id, name, workers, paused, backoff_enabled, backoff_base_ms, backoff_max_ms,
                           retain_done_ms, retain_cancelled_ms, retain_dead_ms, declared) OVERRIDING SYSTEM VALUE
SELECT v.id, v.name, $3::int4, $4::bool, $5::bool, $6::int8, $7::int8, $8::int8, $9::int8, $10::int8, false
  FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    ON CONFLICT DO NOTHING RETURNING name`
const PUT_BACK_KINDS = `
INSERT INTO jobmill.kind (id, name) OVERRIDING SYSTEM VALUE
SELECT v.id, v.name FROM unnest($1::int4[], $2::text[]) AS v(id, name)
    ON CONFLICT DO NOTHING RETURNING name`

/** One row of jobmill.queue or jobmill.kind, as JSON, whose own id no other name has. PostgreSQL does not update ids, so the row is deleted and inserted. */
const takeOut = (table: string): string => `
DELETE FROM jobmill.${table} AS t WHERE t.name = $2::text AND t.id <> $1::int4
   AND NOT EXISTS (SELECT FROM jobmill.${table} AS o WHERE o.id = $1::int4)
RETURNING to_jsonb(t)::text AS found`
const putIn = (table: string): string => `
INSERT INTO jobmill.${table} OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(NULL::jobmill.${table}, $2::text::jsonb || jsonb_build_object('id', $1::int4))).*`
const LOCK_NAMES = `SELECT pg_advisory_xact_lock(hashtextextended('jobmill.names', 0))`
const FORGET_VERSIONS = `DELETE FROM jobmill.names`

/** Differs when a row was changed, also with triggers off. For a statement that a started process sends every few seconds anyway. */
export const ROWS_OF_NAMES = `(SELECT concat(count(*), ' ', sum(hashtextextended(n.name, n.id)))
  FROM (SELECT id, name FROM jobmill.queue UNION ALL SELECT -id, name FROM jobmill.kind) AS n)`

/** How often that statement asks for it. */
const LOOK_EVERY_MS = 3_000

/** One statement, so one snapshot: the last version stands for exactly these names. `known`: whether the version from before is still true. */
const ALL = `
SELECT 'queue' AS what, id, name, NULL::bool AS known, NULL AS rows FROM jobmill.queue
UNION ALL
SELECT 'kind', id, name, NULL, NULL FROM jobmill.kind
UNION ALL
SELECT 'version', NULL, v.version::text, EXISTS (SELECT FROM jobmill.names AS k WHERE k.version = $1::text::uuid), ${ROWS_OF_NAMES}
  FROM (SELECT l.version FROM jobmill.names AS l ORDER BY l.n DESC, l.version LIMIT 1) AS v`

/** The table was emptied by hand. */
const ADD_VERSION = `SELECT jobmill.add_names_version() WHERE NOT EXISTS (SELECT FROM jobmill.names)`

const LATEST = `SELECT version::text AS version FROM jobmill.names ORDER BY n DESC, version LIMIT 1`
const HAS_BOTH = `
SELECT EXISTS (SELECT FROM jobmill.names WHERE version = $1::text::uuid)
   AND EXISTS (SELECT FROM jobmill.names WHERE version = $2::text::uuid) AS found`

const TABLES = [
  { table: 'queue', names: 'queues' },
  { table: 'kind', names: 'kinds' },
] as const

/** A name, and the id that its row has no more. */
interface Moved {
  readonly table: string
  readonly name: string
  readonly id: number
}

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
   * Reads the names again when a queue that this process knows is not among these, which puts it back. True when the queues have to be read again.
   */
  putBackQueues(found: ReadonlySet<string>): Promise<boolean>
  /** Whether it is time to ask for ROWS_OF_NAMES. */
  isLookDue(): boolean
  /** What ROWS_OF_NAMES was: reads the names again when rows were changed, without waiting for it. */
  compare(rows: unknown): void
  /** The same names under the version that a transaction of the user sees. Throws STORE_BUSY when that is another history than ours. */
  seenBy(query: Query): Promise<Names>
}

export interface NamesOptions {
  readonly connection: Connection
  readonly sql: (text: string) => string
  readonly platform: Pick<Platform, 'monotonic'>
  /** The ids that were known belong to another history: the database was restored, recreated or emptied. */
  readonly replaced: () => Promise<void>
}

export function namesOf({ connection, sql, platform, replaced }: NamesOptions): Names {
  let current = nameMap(NO_VERSION)
  let lookedAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<boolean> {
    const before = current
    let rows = await connection.query(sql(ALL), [before.version])
    let version = rows.find((row) => row['what'] === 'version')
    if (version === undefined) {
      await connection.query(sql(ADD_VERSION), [])
      rows = await connection.query(sql(ALL), [before.version])
      version = rows.find((row) => row['what'] === 'version')
    }
    const there = nameMap((version?.['name'] as string | undefined) ?? NO_VERSION)
    there.rows = (version?.['rows'] as string | undefined) ?? null
    for (const row of rows) {
      if (row['what'] === 'queue') there.queues.add(String(row['name']), Number(row['id']))
      if (row['what'] === 'kind') there.kinds.add(String(row['name']), Number(row['id']))
    }
    if (version?.['known'] === true) return !(await keep(before, there))
    if (current !== before) return true
    current = there
    if (before.version !== NO_VERSION) await replaced()
    return true
  }

  /** Reads all names. Once more after ids were corrected: that ends the history that they were read under. */
  async function load(): Promise<void> {
    if (!(await read())) await read()
  }

  /**
   * Adds what `there` has to the names of the same history. Names are only added, so a row that is missing or has another id was changed while triggers were
   * off: jobs refer to the id that is known here, and no process claims them without its row. True when ids were corrected.
   */
  async function keep(known: MutableNameMap, there: NameMap): Promise<boolean> {
    const moved = TABLES.flatMap(({ table, names }) =>
      known[names].movedIn(there[names]).map(([name, id]) => ({ table, name, id })),
    )
    if (moved.length > 0) {
      await correct(moved)
      return true
    }
    const gone = { queues: known.queues.goneFrom(there.queues), kinds: known.kinds.goneFrom(there.kinds) }
    await putBack('queues', PUT_BACK_QUEUES, gone.queues, defaultSettings())
    await putBack('kinds', PUT_BACK_KINDS, gone.kinds, [])
    for (const { names } of TABLES) known[names].addAll(there[names])
    known.version = there.version
    // With rows put back they are those that were read before.
    if (gone.queues.length + gone.kinds.length === 0) known.rows = there.rows
    return false
  }

  async function putBack(
    what: RestoredNames,
    statement: string,
    gone: readonly (readonly [name: string, id: number])[],
    settings: readonly unknown[],
  ): Promise<void> {
    if (gone.length === 0) return
    const columns = [gone.map(([, id]) => id), gone.map(([name]) => name)]
    // Another process may have been faster.
    const added = await connection.query(sql(statement), [...columns, ...settings])
    if (added.length > 0)
      warnRestored(
        what,
        added.map((row) => String(row['name'])),
      )
  }

  /** Gives names their ids back where these are free. In any case every process reads the names again. */
  async function correct(moved: readonly Moved[]): Promise<void> {
    await connection.transaction(async (query) => {
      await query(sql(LOCK_NAMES), [])
      await query(sql(FORGET_VERSIONS), [])
      for (const { table, name, id } of moved) {
        const [row] = await query(sql(takeOut(table)), [id, name])
        if (row !== undefined) await query(sql(putIn(table)), [id, row['found']])
      }
      await query(sql(ADD_VERSION), [])
    })
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
      if (!current.queues.hasBeyond(found)) return false
      await load()
      return true
    },
    isLookDue() {
      const now = platform.monotonic()
      if (current.version === NO_VERSION || now - lookedAt < LOOK_EVERY_MS) return false
      lookedAt = now
      return true
    },
    compare(rows) {
      // A heartbeat must not wait for it, and the next look tries again what failed.
      if (rows !== current.rows) load().catch(() => {})
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

type RestoredNames = 'queues' | 'kinds'

const RESTORED = {
  queues: {
    code: 'QUEUES_RESTORED',
    what: 'rows of the table "queue" were deleted and are put back with default settings',
    fix: 'Restart the processes that declare them, and set overrides again. Never delete rows from this table',
  },
  kinds: {
    code: 'KINDS_RESTORED',
    what: 'rows of the table "kind" were deleted and are put back',
    fix: 'Never delete rows from this table',
  },
} as const

function warnRestored(restored: RestoredNames, names: readonly string[]): void {
  const { code, what, fix } = RESTORED[restored]
  process.emitWarning(`${what}: ${names.join(', ')}. ${fix}.`, { type: 'JobmillWarning', code })
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
