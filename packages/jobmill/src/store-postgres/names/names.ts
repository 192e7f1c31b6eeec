/**
 * Maps queues and kinds to ids, which keeps rows small. A statement with a cached id passes the version under
 * which the id was read, and does nothing if the database no longer has that version (see schema/names.ts).
 * New names are written outside of user transactions, because an open one would block every other process
 * that uses the same queue for the first time.
 */
import { JobmillError } from '../../job/errors.ts'
import { notRun } from '../tx.ts'
import type { Platform } from '../../platform/platform.ts'
import { type Connection, type Query, recordsOf } from '../connection/connection.ts'
import { ADD_QUEUES } from '../queues/queue-rows.ts'
import { type MutableNameMap, type NameMap, nameMap, NO_VERSION } from './name-map.ts'
import { type MissingNames, NamesChanged } from './names-changed.ts'
import { ADD_VERSION, putBack, restoreIds, TABLES } from './restore-names.ts'

const ADD_KINDS = `
INSERT INTO jobmill.kind (name)
SELECT DISTINCT v.name FROM unnest($1::text[]) AS v(name)
 WHERE NOT EXISTS (SELECT FROM jobmill.kind AS k WHERE k.name = v.name)
    ON CONFLICT (name) DO NOTHING`

/**
 * A checksum that changes with every row, even if triggers are disabled. Part of a statement that a started
 * process sends every few seconds.
 */
export const ROWS_OF_NAMES = `(SELECT concat(count(*), ' ', sum(hashtextextended(n.name, n.id)))
  FROM (SELECT id, name FROM jobmill.queue UNION ALL SELECT -id, name FROM jobmill.kind) AS n)`

/** How often that statement requests it. */
const LOOK_EVERY_MS = 3_000

/**
 * One statement reads one snapshot, so the last version belongs to exactly these names. `known`: whether the
 * previous version is still valid.
 */
const ALL = `
SELECT 'queues' AS what, id, name, NULL::bool AS known, NULL AS rows FROM jobmill.queue
UNION ALL
SELECT 'kinds', id, name, NULL, NULL FROM jobmill.kind
UNION ALL
SELECT 'version', NULL, v.version::text, EXISTS (SELECT FROM jobmill.names AS k WHERE k.version = $1::text::uuid), ${ROWS_OF_NAMES}
  FROM (SELECT l.version FROM jobmill.names AS l ORDER BY l.n DESC, l.version LIMIT 1) AS v`

const LATEST = `SELECT (SELECT version::text FROM jobmill.names ORDER BY n DESC, version LIMIT 1) AS version`
const HAS_BOTH = `
SELECT EXISTS (SELECT FROM jobmill.names WHERE version = $1::text::uuid)
   AND EXISTS (SELECT FROM jobmill.names WHERE version = $2::text::uuid) AS found`

export type JobName = { readonly queue: string; readonly kind: string }

export interface Names {
  /**
   * The current map. Becomes another object when the database is replaced. Code that holds ids must keep the
   * map that they came from.
   */
  readonly current: NameMap
  /** Creates missing names, so that all of these have ids. */
  ensure(queues: ReadonlySet<string>, kinds: ReadonlySet<string>): Promise<void>
  /** Whether the ids of the names of these jobs are known. */
  knowsAllOf(jobs: readonly JobName[]): boolean
  kindIdIfKnown(name: string): number | undefined
  /** Loads new ids that came with `map.version`. Throws NamesChanged if the database was replaced since. */
  learn(map: NameMap): Promise<void>
  /** Reads all names again and ensures these. */
  reload(missing: MissingNames): Promise<void>
  /**
   * If a known queue is missing from `found`, reads the names again, which restores it. Returns true if the
   * queues must be read again.
   */
  putBackQueues(found: ReadonlySet<string>): Promise<boolean>
  /** Whether it is time to request ROWS_OF_NAMES. */
  isLookDue(): boolean
  /** Compares a new ROWS_OF_NAMES. If rows changed, reads the names again in the background. */
  compare(rows: unknown): void
  /**
   * The same names under the version that a user's transaction sees. Throws STORE_BUSY if that version
   * belongs to another database.
   */
  seenBy(query: Query): Promise<Names>
}

interface NameRow {
  readonly what: 'queues' | 'kinds' | 'version'
  readonly id: number
  readonly name: string
  readonly known: boolean | null
  readonly rows: string | null
}

const isVersion = ({ what }: NameRow): boolean => what === 'version'

export interface NamesOptions {
  readonly connection: Connection
  readonly sql: (text: string) => string
  readonly platform: Pick<Platform, 'monotonic'>
  /** Called when the known ids became invalid: the database was restored, recreated or emptied. */
  readonly onReplaced: () => Promise<void>
}

export function namesOf({ connection, sql, platform, onReplaced }: NamesOptions): Names {
  let current = nameMap(NO_VERSION)
  let lookedAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<boolean> {
    const before = current
    const readRows = async (): Promise<NameRow[]> =>
      recordsOf(await connection.query(sql(ALL), [before.version]))
    let rows = await readRows()
    if (!rows.some(isVersion)) {
      await connection.query(sql(ADD_VERSION), [])
      rows = await readRows()
    }
    const version = rows.find(isVersion)
    const there = nameMap(version?.name ?? NO_VERSION)
    there.rows = version?.rows ?? null
    for (const { what, name, id } of rows) if (what !== 'version') there[what].add(name, id)
    if (version?.known === true) return !(await keep(before, there))
    if (current !== before) return true
    current = there
    if (before.version !== NO_VERSION) await onReplaced()
    return true
  }

  /** Reads all names. Reads them twice if ids were corrected, because that creates a new version. */
  async function load(): Promise<void> {
    if (!(await read())) await read()
  }

  /**
   * Merges `there` into the known names of the same version. Names are only ever added, so a missing or moved
   * row was changed while triggers were disabled. Jobs refer to the id known here and cannot be claimed
   * without its row. Returns true if ids were corrected.
   */
  async function keep(known: MutableNameMap, there: NameMap): Promise<boolean> {
    const moved = TABLES.map(({ table, names }) => {
      const { idIfKnown } = there[names]
      return { table, named: [...known[names].byName].filter(([name, id]) => (idIfKnown(name) ?? id) !== id) }
    })
    if (moved.some(({ named }) => named.length > 0)) {
      await restoreIds(connection, sql, moved)
      return true
    }
    let isWhole = true
    for (const table of TABLES) {
      const [own, { byName }] = [known[table.names], there[table.names]]
      const gone = [...own.byName].filter(([name]) => !byName.has(name))
      await putBack(connection, sql, { ...table, gone })
      for (const [name, id] of byName) own.add(name, id)
      if (gone.length > 0) isWhole = false
    }
    known.version = there.version
    // After a restore of rows, the checksum of the earlier read is still the right one.
    if (isWhole) known.rows = there.rows
    return false
  }

  async function ensure(queueNames: ReadonlySet<string>, kindNames: ReadonlySet<string>): Promise<void> {
    const missing = () => [current.queues.missing(queueNames), current.kinds.missing(kindNames)] as const
    if (missing().flat().length === 0) return
    await load()
    const [newQueues, newKinds] = missing()
    if (newQueues.length > 0) await connection.query(sql(ADD_QUEUES), [newQueues])
    if (newKinds.length > 0) await connection.query(sql(ADD_KINDS), [newKinds])
    if (newQueues.length + newKinds.length > 0) await load()
  }

  const names: Names = {
    get current() {
      return current
    },
    ensure,
    ...knownBy(() => current),
    async learn(map) {
      await load()
      if (current !== map) throw new NamesChanged()
    },
    async reload({ queues, kinds }) {
      await load()
      await ensure(new Set(queues), new Set(kinds))
    },
    async putBackQueues(found) {
      if ([...current.queues.byName.keys()].every((name) => found.has(name))) return false
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
      // A heartbeat must not wait for this. After a failure, the next comparison tries again.
      if (rows !== current.rows) load().catch(() => {})
    },
    async seenBy(query) {
      const [row] = await query(sql(LATEST), [])
      if (row === undefined) throw notRun()
      const version = (row['version'] as string | null) ?? NO_VERSION
      await load()
      const map = { ...current, version }
      const [both] = await connection.query(sql(HAS_BOTH), [version, current.version])
      if (both?.['found'] !== true) throw otherHistory()
      return { ...names, current: map, ...knownBy(() => map) }
    },
  }
  return names
}

function otherHistory(): JobmillError {
  return new JobmillError('STORE_BUSY', 'seems to belong to a different database than the store', {
    field: 'tx',
    fix: 'Roll back and retry the transaction. If that does not help, connect the store and the transaction to the same database',
  })
}

function knownBy(map: () => NameMap): Pick<Names, 'knowsAllOf' | 'kindIdIfKnown'> {
  return {
    knowsAllOf: (jobs) =>
      jobs.every(({ queue, kind }) => map().queues.byName.has(queue) && map().kinds.byName.has(kind)),
    kindIdIfKnown: (name) => map().kinds.idIfKnown(name),
  }
}
