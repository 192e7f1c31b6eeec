// The baseline on PostgreSQL: the rows that Jobmill keeps, through `pg` alone. Two connections, named
// statements, batches of 500; no retries, settings or wake-ups.
import pg from 'pg'
import { versionOf } from '../measure/versions.ts'
import { payloadOf, type Place, type Queue, type System } from '../system.ts'
import { until } from '../cell/until.ts'

const BATCH = 500
const CONNECTIONS = 2

const SCHEMA = `
  CREATE SEQUENCE IF NOT EXISTS seq;
  CREATE TABLE IF NOT EXISTS job (
    id uuid PRIMARY KEY, queue_id int4 NOT NULL, kind_id int4 NOT NULL, priority int2 NOT NULL, max_attempts int2 NOT NULL,
    payload json NOT NULL, enqueued_at int8 NOT NULL);
  CREATE TABLE IF NOT EXISTS ready (
    queue_id int4 NOT NULL, priority int2 NOT NULL, seq int8 NOT NULL, id uuid NOT NULL UNIQUE, ready_at int8 NOT NULL,
    kind_id int4 NOT NULL, attempt int2 NOT NULL, PRIMARY KEY (queue_id, priority, seq));
  CREATE TABLE IF NOT EXISTS running (
    id uuid PRIMARY KEY, token int8 NOT NULL, seq int8 NOT NULL, ready_at int8 NOT NULL, started_at int8 NOT NULL,
    queue_id int4 NOT NULL, kind_id int4 NOT NULL, priority int2 NOT NULL, attempt int2 NOT NULL);
  CREATE TABLE IF NOT EXISTS attempt (
    job_id uuid NOT NULL, token int8 NOT NULL, started_at int8, ended_at int8 NOT NULL, queue_id int4 NOT NULL,
    attempt int2 NOT NULL, outcome int2 NOT NULL, result json, PRIMARY KEY (job_id, token));
  CREATE INDEX IF NOT EXISTS attempt_ended ON attempt (queue_id, ended_at, job_id);`

// A plan made while the tables are empty would use sequential scans from then on.
const SESSION = 'SET enable_seqscan = off'

const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::int8`
// Time-ordered ids, like those of Jobmill.
const INSERT = `
  WITH given AS (
    SELECT nextval('seq') AS seq, payload, ${NOW} AS now FROM unnest($1::json[]) AS payload
  ), numbered AS (
    SELECT *, ('00000000-0000-7000-8000-' || lpad(to_hex(seq), 12, '0'))::uuid AS id FROM given
  ), made AS (
    INSERT INTO job SELECT id, 1, 1, 0, 5, payload, now FROM numbered
  )
  INSERT INTO ready SELECT 1, 0, seq, id, now, 1, 0 FROM numbered`
/** Finishes the previous batch and takes the next one in one statement. */
const STEP = `
  WITH over AS (
    DELETE FROM running WHERE id = ANY($1::uuid[]) RETURNING id, token, started_at, queue_id, attempt
  ), kept AS (
    INSERT INTO attempt SELECT id, token, started_at, ${NOW}, queue_id, attempt, 0, '{"ok":true}' FROM over
  ), taken AS (
    DELETE FROM ready WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ready WHERE queue_id = 1 AND priority = 0 AND seq > $2
      ORDER BY seq LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))
    RETURNING seq, id, ready_at
  ), begun AS (
    INSERT INTO running SELECT id, 1, seq, ready_at, ${NOW}, 1, 1, 0, 1 FROM taken
  )
  SELECT taken.id, taken.seq, job.payload FROM taken JOIN job USING (id)`

interface ClaimedRow {
  readonly id: string
  readonly seq: string
  readonly payload: { readonly n: number }
}

export const systems: readonly System[] = [
  {
    name: 'bare',
    store: 'postgres',
    setting: 'best',
    settings: `pg, named statements, ${CONNECTIONS} connections, batches of ${BATCH}`,
    version: versionOf('pg'),
    keeps: 'job, payload, result and attempt; an acknowledged job survives a power cut',
    open,
  },
]

async function open(place: Place): Promise<Queue> {
  const connections = Array.from({ length: CONNECTIONS }, () => new pg.Client(place.url))
  for (const one of connections) {
    await one.connect()
    await one.query(SESSION)
  }
  await connections[0]?.query(SCHEMA)
  let next = 0
  let inHand = 0
  const stopping = new AbortController()
  let loops: Promise<unknown> = Promise.resolve()

  async function insert(from: number, count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, at) => JSON.stringify(payloadOf(from + at)))
    next = (next + 1) % CONNECTIONS
    await connections[next]?.query({ name: 'insert', text: INSERT, values: [rows] })
  }

  async function loop(connection: pg.Client, ran: (n: number) => void): Promise<void> {
    let done: string[] = []
    let cursor = '0'
    while (!stopping.signal.aborted) {
      const { rows } = await connection.query<ClaimedRow>({
        name: 'step',
        text: STEP,
        values: [done, cursor],
      })
      inHand += rows.length - done.length
      for (const { payload } of rows) ran(payload.n)
      done = rows.map(({ id }) => id)
      // Taken rows stay dead until a vacuum, so continue after them. Start over when a batch is empty.
      cursor = rows.length === 0 ? '0' : (rows.at(-1)?.seq ?? cursor)
    }
  }

  return {
    enqueue: (n) => insert(n, 1),
    enqueueMany: insert,
    work(ran) {
      loops = Promise.all(connections.map((connection) => loop(connection, ran)))
      return Promise.resolve()
    },
    settled: () => until(() => inHand === 0),
    async stop() {
      stopping.abort()
      await loops
      await Promise.all(connections.map((connection) => connection.end()))
    },
  }
}
