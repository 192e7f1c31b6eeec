/**
 * Writes that a real server refuses while a mill works, whatever it says of them: no handler runs twice, no follow-up or result is lost, and no caller sees an error
 * of the driver. Which SQLSTATE means what is in test/unit/sqlstates.test.ts.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { defineJob, isJobmillError, type JobContext, jobmill, type Mill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'refused')
const admin = new pg.Client({ connectionString: url })

/** Every row that enqueue writes passes through `job`, and every outcome through `attempt`. */
const TABLES = ['job', 'attempt'] as const
type Table = (typeof TABLES)[number]

beforeAll(async () => {
  await admin.connect()
  const store = postgres(url, { schema, doorbell: false })
  await store.open()
  await store.close()
  // A sequence, because it is not rolled back with the write that is refused.
  await admin.query(`CREATE SEQUENCE ${schema}.refusals`)
  for (const table of TABLES) {
    await define(table, 'false', 'P0001')
    await admin.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse_${table}()`,
    )
  }
})
afterAll(() => admin.end())

async function define(table: Table, condition: string, code: string): Promise<void> {
  await admin.query(
    `CREATE OR REPLACE FUNCTION ${schema}.refuse_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF ${condition} THEN RAISE EXCEPTION 'refused by a trigger' USING ERRCODE = '${code}'; END IF;
       RETURN NEW;
     END $$`,
  )
}

/** Rows for which the condition holds are refused with this code until the test ends. */
async function refuse(table: Table, condition: string, code: string): Promise<void> {
  onTestFinished(() => define(table, 'false', 'P0001'))
  await define(table, condition, code)
}

/** The next writes are refused, and then no more. */
async function refuseTimes(table: Table, times: number, code: string): Promise<void> {
  await admin.query(`ALTER SEQUENCE ${schema}.refusals RESTART`)
  await refuse(table, `nextval('${schema}.refusals') <= ${times}`, code)
}

function scene(given: { readonly parameters?: string; readonly retryMs?: number } = {}) {
  const runs = new Map<number, number>()
  const seen: string[] = []
  const child = defineJob({ kind: 'child', run: ({ payload }: JobContext<number>) => payload })
  const parent = defineJob({
    kind: 'parent',
    maxAttempts: 3,
    backoff: () => given.retryMs ?? 0,
    run: async ({ payload, enqueue }: JobContext<number>) => {
      runs.set(payload, (runs.get(payload) ?? 0) + 1)
      if (payload < 0) throw new Error('a text that is refused')
      await enqueue(child, payload, { withCompletion: true, tags: [`of-${payload}`] })
      return { kept: payload }
    },
  })
  const plain = defineJob({
    kind: 'plain',
    run: ({ payload }: JobContext<number>) => {
      runs.set(payload, (runs.get(payload) ?? 0) + 1)
      return { kept: payload }
    },
  })
  const mill = jobmill({
    store: postgres(`${url}${given.parameters ?? ''}`, { schema }),
    jobs: [parent, child, plain],
    queues: { default: { workers: 10 } },
    log: 'silent',
  })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  mill.on('store-failing', ({ part }) => seen.push(part))
  mill.on('lease-lost', () => seen.push('lease-lost'))
  mill.on('dead', () => seen.push('dead'))
  mill.on('leases-found', () => seen.push('leases-found'))
  return { mill, runs, seen, child, parent, plain }
}

/** Resolves when this part of the mill has told that the store refuses it. */
function failing(mill: Mill, part: string): Promise<void> {
  return new Promise((resolve) => {
    mill.on('store-failing', (event) => void (event.part === part && resolve()))
  })
}

/** The process of the server that waits for a lock on this table. */
async function waiter(table: Table): Promise<number | undefined> {
  const { rows } = await admin.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE NOT granted AND relation = '${schema}.${table}'::regclass`,
  )
  return rows[0]?.pid
}

async function childrenOf(mill: Mill, payload: number): Promise<number> {
  return (await mill.list({ kind: 'child', tags: [`of-${payload}`] })).jobs.length
}

/** As a caller does who follows `retryable`. */
async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isJobmillError(error) || !error.retryable) throw error
    }
  }
}

const CODES = {
  'an I/O error': '58030',
  'too little memory': '53200',
  'an internal error': 'XX000',
  'a code that no PostgreSQL documents': 'QQ123',
  'an error of a procedure': 'P0001',
  'a table that is gone': '42P01',
}

let next = 1
describe('postgres: writes that are refused for a while', () => {
  test.each(Object.entries(CODES))(
    'D1 with %s: enqueue rejects only with retryable errors, and a returned handler is done once, with its follow-up and its result',
    async (_name, code) => {
      const { mill, runs, seen, parent } = scene()
      await mill.start()
      const payload = next++
      await refuseTimes('job', 2, code)
      const id = crypto.randomUUID()
      await refuseTimes('attempt', 5, code)
      const job = await persistently(() => mill.enqueue(parent, payload, { id }))
      expect(await job.result({ timeout: '30s' })).toEqual({ kept: payload })
      expect(runs.get(payload)).toBe(1)
      expect(await childrenOf(mill, payload)).toBe(1)
      expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
      expect(seen.filter((what) => what !== 'finish')).toEqual([])
    },
    40_000,
  )

  test('D1 with 25P04 while a table is locked: the session is ended, and everything is written once when the lock is free', async () => {
    const { mill, runs, parent, plain } = scene({ parameters: '?options=-c%20transaction_timeout%3D300ms' })
    await mill.start()
    const payload = next++
    const locked = failing(mill, 'finish')
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query(`BEGIN; LOCK TABLE ${schema}.attempt IN SHARE MODE`)
    const job = await mill.enqueue(parent, payload)
    await locked
    await holder.query('COMMIT')
    expect(await job.result({ timeout: '30s' })).toEqual({ kept: payload })
    expect(runs.get(payload)).toBe(1)
    expect(await childrenOf(mill, payload)).toBe(1)
    await holder.query(`BEGIN; LOCK TABLE ${schema}.job IN SHARE MODE`)
    const id = crypto.randomUUID()
    const late = persistently(() => mill.enqueue(plain, next, { id }))
    await expect.poll(() => waiter('job')).toEqual(expect.any(Number))
    // Until the server has ended the session that waits, and the next one waits.
    const first = await waiter('job')
    await expect.poll(() => waiter('job')).not.toBe(first)
    await holder.query('COMMIT')
    expect(await (await late).result({ timeout: '30s' })).toEqual({ kept: next })
    next += 1
  }, 40_000)

  test('D1 one job alone keeps being refused: its neighbours are written at once, and it is judged after several tries', async () => {
    const { mill, runs, seen, plain } = scene()
    await mill.start()
    const bad = next++
    await refuse('attempt', `(NEW.result ->> 'kept')::int4 = ${bad}`, 'QQ123')
    const stuck = await mill.enqueue(plain, bad)
    const over = new AbortController()
    const judged = stuck
      .result({ timeout: '60s' })
      .catch((error: unknown) => error)
      .finally(() => over.abort())
    while (!over.signal.aborted) {
      const payload = next++
      expect(await (await mill.enqueue(plain, payload)).result({ timeout: '10s' })).toEqual({ kept: payload })
      expect(runs.get(payload)).toBe(1)
    }
    // Its work happened: only what cannot be written is missing, and why is told.
    expect(await judged).toMatchObject({ code: 'RESULT_NOT_KEPT' })
    expect(String(await judged)).toContain('refused by a trigger')
    expect(runs.get(bad)).toBe(1)
    expect(await mill.get(stuck.id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
    expect(seen.filter((what) => what !== 'finish')).toEqual([])
  }, 70_000)
})

describe('postgres: outcomes that are refused for their data', () => {
  test('D1 follow-ups that are never taken cost an ordinary attempt each, and the job is dead only after the last', async () => {
    const { mill, runs, parent } = scene()
    await mill.start()
    const payload = next++
    const retried: string[] = []
    mill.on('retried', ({ error }) => retried.push(error))
    await refuse('job', `NEW.tags @> ARRAY['of-${payload}']`, '22P05')
    const job = await mill.enqueue(parent, payload)
    await expect(job.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'JOB_DEAD' })
    expect(runs.get(payload)).toBe(3)
    expect(retried).toHaveLength(2)
    expect(retried[0]).toContain('refused by a trigger')
    const attempts = await mill.history(job.id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['threw', 'threw', 'threw'])
    expect(await childrenOf(mill, payload)).toBe(0)
  }, 40_000)

  test('D8 an outcome whose text is never taken is written without it, and costs its attempt', async () => {
    const { mill, runs, parent } = scene()
    await mill.start()
    const payload = -next++
    await refuse('attempt', 'NEW.error IS NOT NULL', '22P05')
    const job = await mill.enqueue(parent, payload)
    await expect(job.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'JOB_DEAD' })
    expect(runs.get(payload)).toBe(3)
    expect((await mill.history(job.id)).map(({ outcome, error }) => [outcome, error])).toEqual(
      Array.from({ length: 3 }, () => ['threw', null]),
    )
  }, 40_000)

  test('D8 an outcome that cannot be recorded at all still costs its attempt', async () => {
    const { mill, runs, parent } = scene({ retryMs: 3_600_000 })
    await mill.start()
    const payload = -next++
    await refuse('attempt', 'true', '22P05')
    const retried = new Promise((resolve) => void mill.on('retried', resolve))
    const job = await mill.enqueue(parent, payload)
    await retried
    expect(await mill.get(job.id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    expect(runs.get(payload)).toBe(1)
  }, 40_000)
})
