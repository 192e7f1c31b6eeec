// The baseline on SQLite: the rows that Jobmill keeps, through better-sqlite3 alone. One table updated in
// place and one of attempts, every commit synced; no retries, expiring leases or settings.
import Database from 'better-sqlite3'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import { payloadOf, type Place, type Queue, type System } from '../system.ts'

const BATCH = 500

// States: 1 ready, 2 running, 3 done. A job has an entry in the index of ids and in one partial index.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS job (
    pk INTEGER PRIMARY KEY, id TEXT NOT NULL, queue_id INTEGER NOT NULL, kind_id INTEGER NOT NULL, state INTEGER NOT NULL,
    priority INTEGER NOT NULL, seq INTEGER NOT NULL, attempt INTEGER NOT NULL, max_attempts INTEGER NOT NULL,
    token INTEGER NOT NULL, instance_pk INTEGER, enqueued_at INTEGER NOT NULL, due_at INTEGER NOT NULL, ready_at INTEGER,
    started_at INTEGER, ended_at INTEGER, result TEXT, payload TEXT NOT NULL) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS job_id ON job (id);
  CREATE INDEX IF NOT EXISTS job_ready ON job (queue_id, kind_id, priority, seq) WHERE state = 1;
  CREATE INDEX IF NOT EXISTS job_running ON job (instance_pk, started_at, id) WHERE state = 2;
  CREATE INDEX IF NOT EXISTS job_ended ON job (queue_id, state, ended_at, id) WHERE state >= 3;
  CREATE TABLE IF NOT EXISTS attempt (
    job_pk INTEGER NOT NULL, token INTEGER NOT NULL, attempt INTEGER NOT NULL, outcome INTEGER NOT NULL,
    started_at INTEGER, ended_at INTEGER NOT NULL, instance TEXT, PRIMARY KEY (job_pk, token)) STRICT, WITHOUT ROWID;`

// One statement per batch, with the values of its rows as JSON, is twice as fast as one statement per row.
const INSERT = `
  INSERT INTO job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, token, enqueued_at, due_at, ready_at, payload)
  SELECT value ->> 0, 1, 1, 1, 0, value ->> 1, 0, 5, 0, @now, @now, @now, value ->> 2 FROM json_each(@rows)`
const READY = `
  SELECT pk, payload FROM job INDEXED BY job_ready
  WHERE state = 1 AND queue_id = 1 AND kind_id = 1 ORDER BY priority, seq LIMIT ${BATCH}`
const TAKE = `
  UPDATE job SET state = 2, attempt = attempt + 1, token = @token, instance_pk = 1, started_at = @now
  WHERE pk IN (SELECT value FROM json_each(@pks))`
const END = `
  UPDATE job SET state = 3, ended_at = @now, result = '{"ok":true}'
  WHERE pk IN (SELECT value FROM json_each(@pks)) AND token = @token`
const RECORD = `
  INSERT INTO attempt (job_pk, token, attempt, outcome, started_at, ended_at, instance)
  SELECT value, @token, 1, 0, @startedAt, @now, 'bare' FROM json_each(@pks)`
const FORGET = `DELETE FROM job WHERE pk IN (SELECT value FROM json_each(@pks)) AND token = @token`

interface ClaimedRow {
  readonly pk: number
  readonly payload: string
}

export const systems: readonly System[] = [
  {
    name: 'bare',
    store: 'sqlite',
    setting: 'best',
    settings: `better-sqlite3, prepared statements, batches of ${BATCH}, synchronous=FULL`,
    version: versionOf('better-sqlite3'),
    keeps: 'the job with its payload and result, and a row for the attempt; synced before it acknowledges',
    open: async (place, { keep }) => openBare(place, keep),
  },
]

function openBare({ url }: Place, keep: boolean): Queue {
  const database = new Database(url)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec(SCHEMA)
  const insert = insertWith(database)
  const step = stepWith(database, keep)
  let working: Promise<void> | undefined
  const life = { isOver: false }
  let running: readonly ClaimedRow[] = []

  async function loop(ran: (n: number) => void): Promise<void> {
    while (!life.isOver) {
      running = step(running)
      for (const { payload } of running) ran((JSON.parse(payload) as { n: number }).n)
      // Let the producer run.
      await nextTurn()
    }
  }

  return {
    enqueue: groupCalls(insert),
    enqueueMany: async (from, count) => insert(Array.from({ length: count }, (_, at) => from + at)),
    async work(ran) {
      working = loop(ran)
    },
    async settled() {
      while (running.length > 0) await nextTurn()
    },
    async stop() {
      life.isOver = true
      await working
      database.close()
    },
  }
}

/**
 * Single calls in one turn of the event loop share a commit, which any driver can do for concurrent calls.
 */
function groupCalls(insert: (numbers: readonly number[]) => void): (n: number) => Promise<void> {
  let group: { readonly numbers: number[]; readonly written: Promise<void> } | undefined
  return (n) => {
    if (group === undefined) {
      const numbers: number[] = []
      const written = nextTurn().then(() => {
        group = undefined
        insert(numbers)
      })
      group = { numbers, written }
    }
    group.numbers.push(n)
    return group.written
  }
}

function insertWith(database: Database.Database): (numbers: readonly number[]) => void {
  const insert = database.prepare(INSERT)
  // Continue after the rows of an earlier handle.
  let seq = database.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM job').pluck().get() ?? 0
  const rowOf = (n: number): readonly [string, number, string] => {
    seq += 1
    // Time-ordered, like the ids of Jobmill.
    const id = `00000000-0000-7000-8000-${seq.toString(16).padStart(12, '0')}`
    return [id, seq, JSON.stringify(payloadOf(n))]
  }
  return (numbers) => void insert.run({ now: Date.now(), rows: JSON.stringify(numbers.map(rowOf)) })
}

/** Finishes the previous batch and takes the next one in one transaction. */
function stepWith(
  database: Database.Database,
  keep: boolean,
): (ended: readonly ClaimedRow[]) => readonly ClaimedRow[] {
  const ready = database.prepare<[], ClaimedRow>(READY)
  const take = database.prepare(TAKE)
  const ending = (keep ? [END, RECORD] : [FORGET]).map((sql) => database.prepare(sql))
  let token = 0
  let startedAt = 0
  const step = database.transaction((ended: readonly ClaimedRow[]) => {
    const now = Date.now()
    if (ended.length > 0) for (const sql of ending) sql.run({ pks: pksOf(ended), token, startedAt, now })
    const next = ready.all()
    token += 1
    startedAt = now
    if (next.length > 0) take.run({ pks: pksOf(next), token, now })
    return next
  })
  // Check before taking the lock: an idle loop must not block the producer.
  return (ended) => (ended.length > 0 || ready.get() !== undefined ? step.immediate(ended) : [])
}

function pksOf(jobs: readonly ClaimedRow[]): string {
  return JSON.stringify(jobs.map(({ pk }) => pk))
}
