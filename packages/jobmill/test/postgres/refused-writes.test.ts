/**
 * Writes that a real server refuses while a mill works, whatever it says of them: no handler runs twice, no follow-up or result is lost, and no caller sees an error
 * of the driver. Which SQLSTATE means what is in test/unit/sqlstates.test.ts.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { defineJob, isJobmillError, type JobContext, jobmill, type Mill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { testMill } from '../../src/testing/index.ts'

const url = inject('postgresUrl')
/** The second one for a mill on a clock of its own. */
const [schema, movedSchema] = [freshSchema(url, 'refused'), freshSchema(url, 'refused')]
const admin = new pg.Client({ connectionString: url })

/** Every row that enqueue writes passes through `job`, and every outcome through `attempt`. */
const TABLES = ['job', 'attempt'] as const
type Table = (typeof TABLES)[number]

beforeAll(async () => {
  await admin.connect()
  for (const name of [schema, movedSchema]) {
    const store = postgres(url, { schema: name, doorbell: false })
    await store.open()
    await store.close()
    for (const table of TABLES) {
      // It is not rolled back with the write that is refused.
      await admin.query(`CREATE SEQUENCE ${name}.refusals_${table}`)
      await define(table, 'false', 'P0001', name)
      await admin.query(
        `CREATE TRIGGER refuse BEFORE INSERT ON ${name}.${table} FOR EACH ROW EXECUTE FUNCTION ${name}.refuse_${table}()`,
      )
    }
  }
})
afterAll(() => admin.end())

async function define(table: Table, condition: string, code: string, at = schema): Promise<void> {
  await admin.query(
    `CREATE OR REPLACE FUNCTION ${at}.refuse_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF ${condition} THEN RAISE EXCEPTION 'refused by a trigger' USING ERRCODE = '${code}'; END IF;
       RETURN NEW;
     END $$`,
  )
}

/** Rows for which the condition holds are refused with this code until the test ends. */
async function refuse(table: Table, condition: string, code: string, at = schema): Promise<void> {
  onTestFinished(() => define(table, 'false', 'P0001', at))
  await define(table, condition, code, at)
}

/** The next writes are refused, and then no more. */
async function refuseTimes(table: Table, times: number, code: string): Promise<void> {
  await admin.query(`ALTER SEQUENCE ${schema}.refusals_${table} RESTART`)
  await refuse(table, `nextval('${schema}.refusals_${table}') <= ${times}`, code)
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

/** An I/O error, too little memory, an internal error, one that no PostgreSQL documents, one of a procedure, a table that is gone. */
const CODES = ['58030', '53200', 'XX000', 'QQ123', 'P0001', '42P01']

let next = 1
describe('postgres: writes that are refused for a while', () => {
  test('D1 whatever the code: enqueue rejects only with retryable errors, and a returned handler is done once, with its follow-up and its result', async () => {
    const { mill, runs, seen, parent } = scene()
    await mill.start()
    for (const code of CODES) {
      const payload = next++
      const id = crypto.randomUUID()
      await refuseTimes('job', 2, code)
      await refuseTimes('attempt', 4, code)
      const job = await persistently(() => mill.enqueue(parent, payload, { id }))
      expect([code, await job.result({ timeout: '30s' })]).toEqual([code, { kept: payload }])
      expect([code, runs.get(payload), await childrenOf(mill, payload)]).toEqual([code, 1, 1])
      expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
    }
    expect(new Set(seen)).toEqual(new Set(['finish']))
  }, 60_000)

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

  test('D1 one job alone keeps being refused: its neighbours are written, and it is judged after several tries', async () => {
    const runs: number[] = []
    const plain = defineJob({
      kind: 'plain',
      run: ({ payload }: JobContext<number>) => {
        runs.push(payload)
        return { kept: payload }
      },
    })
    const mill = await testMill({
      store: ({ now }) => postgres(url, { schema: movedSchema, clock: now, doorbell: false }),
      jobs: [plain],
    })
    onTestFinished(() => mill[Symbol.asyncDispose]())
    await refuse('attempt', `(NEW.result ->> 'kept')::int4 = 0`, 'QQ123', movedSchema)
    const stuck = await mill.enqueue(plain, 0)
    const states: unknown[] = []
    for (let n = 1; n <= 14; n += 1) {
      const { id } = await mill.enqueue(plain, n)
      await mill.clock.advance('2s')
      states.push((await mill.get(id))?.state, (await mill.get(stuck.id))?.state)
      expect(states.at(-2)).toBe('done')
    }
    // For a while it was held, as one whose write may succeed yet.
    expect(states.filter((_, at) => at % 2 === 1)).toEqual([
      ...Array.from({ length: 4 }, () => 'running'),
      ...Array.from({ length: 10 }, () => expect.stringMatching(/running|done/) as string),
    ])
    // Its work happened: only what cannot be written is missing, and why is told.
    const told = stuck.result().catch((error: unknown) => error)
    expect(await told).toMatchObject({
      code: 'RESULT_NOT_KEPT',
      message: expect.stringContaining('refused by a trigger') as string,
    })
    expect(runs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, n) => n))
    expect(await mill.get(stuck.id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
  })
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
