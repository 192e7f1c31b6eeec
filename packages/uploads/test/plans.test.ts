/**
 * What the database enforces: limits as constraints, and an index for every statement on a growing table.
 * B.2, B.10.
 */
import { sql } from 'jobmill-tables'
import { directoryBlobs, postgresBlobs, type Schema, uploads, type UploadsOptions } from 'jobmill-uploads'
import { describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { type Box, mailbox, type Scene, sceneForAll, STORES } from './support/inboxes.ts'

type Tables = UploadsOptions['tables']
type Executor = ReturnType<Tables['db']['getExecutor']>
type Compiled = ReturnType<Executor['compileQuery']>
type Row = Schema['uploads_file']

const ID = '00000000-0000-7000-8000-000000000000'
const CAP = 1_000

const rowOf = (box: Box, values: Partial<Row>): Row => ({
  mailbox: box.id,
  id: ID,
  upload: ID,
  n: 0,
  name: 'x',
  type: '',
  size: 1,
  max_size: CAP,
  sha256: 'a'.repeat(64),
  created_at: 1,
  expires_at: Date.now() + 1e9,
  first_fetched_at: null,
  last_fetched_at: null,
  fetches: 0,
  acked_at: null,
  swept_at: null,
  ...values,
})

/** The same tables, with a record of every statement. */
function listening(tables: Tables): { tables: Tables; statements: Map<string, Compiled> } {
  const statements = new Map<string, Compiled>()
  const executor = tables.db.getExecutor()
  const db = tables.db.withPlugin({
    transformQuery({ node, queryId }) {
      const compiled = executor.compileQuery(node, queryId)
      statements.set(compiled.sql, compiled)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const transaction: Tables['transaction'] = (work) =>
    db.transaction().execute((trx) => work(trx, undefined as never))
  return {
    statements,
    tables: Object.defineProperty({ ...tables, db, transaction }, 'now', { get: () => tables.now }),
  }
}

/** 20,000 files in 200 mailboxes, a few of which are due for the sweep. */
async function fill({ tables }: Scene): Promise<void> {
  const { type, db, table } = tables
  const numbers =
    type === 'postgres'
      ? sql`SELECT n FROM generate_series(1, 20000) AS numbers (n)`
      : sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000) SELECT n FROM numbers`
  const now = sql.lit(Date.now())
  const many = sql`FROM (${numbers}) AS numbers`
  const [box, id] = [sql`'box ' || (n % 200)`, sql`'id ' || n`]
  for (const statement of [
    sql`INSERT INTO ${table('uploads_file')}
      (mailbox, id, upload, n, name, size, sha256, created_at, expires_at, acked_at)
      SELECT ${box}, ${id}, ${id}, 0, 'x', 1, ${'a'.repeat(64)}, n, ${now} + 1000000000 + n,
        CASE WHEN n % 10 = 0 THEN ${now} + 1000000000 + n END ${many}`,
    sql`INSERT INTO ${table('uploads_notice')} (mailbox, seq, file, at) SELECT ${box}, n, ${id}, n ${many}`,
    sql`INSERT INTO ${table('uploads_upload')} (id, mailbox, fingerprint, answer, created_at)
      SELECT ${id}, ${box}, '', '{}', ${now} + n ${many}`,
    sql`INSERT INTO ${table('uploads_staging')} (upload, mailbox, begun_at) SELECT ${id}, ${box}, ${now} + n ${many}`,
    sql`INSERT INTO ${table('uploads_mailbox')} (id, name, created_at) SELECT ${box}, 'x', 1 ${many} WHERE n <= 200`,
  ])
    await statement.execute(db)
  for (const name of ['file', 'notice', 'upload', 'mailbox', 'token', 'staging'])
    await sql`ANALYZE ${table(`uploads_${name}`)}`.execute(db)
}

/** The query plan as one text. */
async function planOf({ type, db }: Tables, compiled: Compiled): Promise<string> {
  const explain = type === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN'
  const { rows } = await db.executeQuery<Record<string, unknown>>({
    ...compiled,
    sql: `${explain} ${compiled.sql}`,
  })
  return rows.map((row) => String(row['QUERY PLAN'] ?? row['detail'])).join('\n')
}

/** A full scan of a growing table. Marked files have their own small index, which may be scanned. */
const WHOLE =
  /Seq Scan on uploads_(?:file|notice|upload)\b|SCAN uploads_(?:file|notice|upload)\b(?! USING (?:COVERING )?INDEX uploads_file_swept)/

/** A full scan of a time index, without a bound. */
const TIMELESS =
  /(?:using|Scan on) uploads_(?:file_acked|file_pending|upload_created|staging_begun)\b.*$(?!\n\s+Index Cond)/m

describe.each(STORES)('the database on %s', (store) => {
  const test = inTurns(store, STORES)
  // The real clock, because a planner treats a clock unlike a constant.
  const sharedScene = sceneForAll(store, { clock: 'of the database' })

  test('B10 enforces the limits: the file size, and the blob numbers that the sweep relies on', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene, { maxFileBytes: CAP })
    const { db } = scene.tables
    const insert = (values: Partial<Row>): Promise<unknown> =>
      db.insertInto('uploads_file').values(rowOf(box, values)).execute()
    for (const values of [
      { size: CAP + 1 },
      { size: 0 },
      { n: -1 },
      { n: 64 },
      { name: '' },
      { name: 'x'.repeat(101) },
      { sha256: 'short' },
    ])
      await expect(insert(values)).rejects.toThrow(/check constraint|CHECK constraint/)
    await insert({ size: CAP, n: 63, name: 'x'.repeat(100) })
    const [file = ''] = await box.sent('x'.repeat(CAP))
    const row = await db
      .selectFrom('uploads_file')
      .select(['size', 'max_size'])
      .where('id', '=', file)
      .executeTakeFirst()
    expect(row).toEqual({ size: CAP, max_size: CAP })
    for (const column of ['uploads_at_once', 'max_file_bytes', 'max_request_bytes'] as const)
      await expect(
        db
          .updateTable('uploads_mailbox')
          .set({ [column]: 0 })
          .where('id', '=', box.id)
          .execute(),
      ).rejects.toThrow(/check constraint|CHECK constraint/)
    await db.deleteFrom('uploads_file').where('mailbox', '=', box.id).execute()
  })

  test('B2 B10 has an index for every statement of upload, list, fetch, acknowledgement and sweep', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    await fill(scene)
    const { tables, statements } = listening(scene.tables)
    const blobs = store === 'sqlite' ? directoryBlobs(`${scene.address}-plans`) : postgresBlobs(tables)
    const inbox = uploads({ tables, blobs, ackRetention: 0 })
    await inbox.start()
    const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
      (await inbox.fetch(
        new Request(`http://here/mailboxes/${box.id}${path}`, {
          ...init,
          headers: { authorization: `Bearer ${box.token}`, 'idempotency-key': 'k' },
        }),
      )) ?? Response.error()
    const form = new FormData()
    for (const name of ['a', 'b']) form.append('files', new Blob(['x']), name)
    const answer = (await (await ask('/uploads', { method: 'POST', body: form })).json()) as {
      files: { id: string }[]
    }
    const [file] = answer.files.map(({ id }) => id)
    for (const path of ['/uploads', '/uploads?state=all', '/limits', `/uploads/${file}`])
      expect((await ask(path)).status).toBe(200)
    expect(await (await ask(`/uploads/${file}/content`)).text()).toBe('x')
    for (const status of [200, 200])
      expect((await ask(`/uploads/${file}/ack`, { method: 'POST' })).status).toBe(status)
    expect(await inbox.sweep()).toMatchObject({ acked: 1 })

    const all = [...statements.values()]
    const plans = await Promise.all(
      all.map(async (compiled) => ({ sql: compiled.sql, plan: await planOf(scene.tables, compiled) })),
    )
    expect(plans.filter(({ plan }) => WHOLE.test(plan))).toEqual([])
    expect(plans.filter(({ plan }) => TIMELESS.test(plan))).toEqual([])
    // Each index that was made for one of them.
    const planned = plans.map(({ plan }) => plan).join('\n')
    for (const index of [
      'file_acked',
      'file_pending',
      'file_swept',
      'upload_created',
      'upload_key',
      'staging_begun',
    ])
      expect(planned).toContain(`uploads_${index}`)
    expect(planned).toMatch(/uploads_notice_(?:pkey|file)|sqlite_autoindex_uploads_notice_1/)
    expect(planned).toMatch(/uploads_file_pkey|sqlite_autoindex_uploads_file_1/)
  })
})
