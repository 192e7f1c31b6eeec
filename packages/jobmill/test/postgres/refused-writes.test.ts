/**
 * A real server refuses writes while a mill works: no handler runs twice, no follow-up or result is lost, and
 * no caller sees an error of the driver. test/unit/sqlstates.test.ts covers the meaning of each SQLSTATE.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, isJobmillError, type JobContext, jobmill, type Mill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { testMill } from '../../src/testing/index.ts'

const test = inTurns('postgres', ['postgres'])
const url = inject('postgresUrl')
/** The second one is for a mill on a fake clock. */
const [schema, movedSchema] = [freshSchema(url, 'refused'), freshSchema(url, 'refused')]
const admin = new pg.Client({ connectionString: url })

/** Every row that enqueue writes passes through `job`, and every outcome through `attempt`. */
const TABLES = ['job', 'attempt'] as const
type Table = (typeof TABLES)[number]

beforeAll(async () => {
  await admin.connect()
  for (const name of [schema, movedSchema]) {
    const store = postgres(url, { schema: name, notifier: false })
    await store.open()
    await store.close()
    for (const table of TABLES) {
      // A sequence is not rolled back with the refused write.
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

/** Refuses rows that match the condition with this code until the end of the test. */
async function refuse(table: Table, condition: string, code: string, at = schema): Promise<void> {
  onTestFinished(() => define(table, 'false', 'P0001', at))
  await define(table, condition, code, at)
}

/** Refuses the next writes, and then no more. */
async function refuseTimes(table: Table, times: number, code: string, at = schema): Promise<void> {
  await admin.query(`ALTER SEQUENCE ${at}.refusals_${table} RESTART`)
  await refuse(table, `nextval('${at}.refusals_${table}') <= ${times}`, code, at)
}

/** Refuses 90% of the writes, whatever they contain, in an order that is as good as random. */
async function refuseMost(table: Table, code: string, at: string): Promise<void> {
  await admin.query(`ALTER SEQUENCE ${at}.refusals_${table} RESTART`)
  await refuse(table, `md5(nextval('${at}.refusals_${table}')::text) > '19'`, code, at)
}

function scene(options: { readonly parameters?: string; readonly retryMs?: number } = {}) {
  const runs = new Map<number, number>()
  const troubles: string[] = []
  const child = defineJob({ kind: 'child', run: ({ payload }: JobContext<number>) => payload })
  const parent = defineJob({
    kind: 'parent',
    maxAttempts: 3,
    backoff: () => options.retryMs ?? 0,
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
    store: postgres(`${url}${options.parameters ?? ''}`, { schema }),
    jobs: [parent, child, plain],
    queues: { default: { workers: 10 } },
    log: 'silent',
  })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  mill.on('store-failing', ({ part }) => troubles.push(part))
  mill.on('lease-lost', () => troubles.push('lease-lost'))
  mill.on('dead', () => troubles.push('dead'))
  mill.on('leases-found', () => troubles.push('leases-found'))
  return { mill, runs, troubles, child, parent, plain }
}

/** Resolves when this part of the mill has reported that the store refuses it. */
function failing(mill: Mill, part: string): Promise<void> {
  return new Promise((resolve) => {
    mill.on('store-failing', (event) => void (event.part === part && resolve()))
  })
}

/** The server process that waits for a lock on this table. */
async function waiter(table: Table): Promise<number | undefined> {
  const { rows } = await admin.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE NOT granted AND relation = '${schema}.${table}'::regclass`,
  )
  return rows[0]?.pid
}

async function childrenOf(mill: Mill, payload: number): Promise<number> {
  return (await mill.list({ kind: 'child', tags: [`of-${payload}`] })).jobs.length
}

/** Like a caller that respects `retryable`. */
async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isJobmillError(error) || !error.retryable) throw error
    }
  }
}

/**
 * An I/O error, out of memory, an internal error, an undocumented one, one of a procedure, a missing table.
 */
const CODES = ['58030', '53200', 'XX000', 'QQ123', 'P0001', '42P01']

let next = 1
describe('postgres: writes that are refused temporarily', () => {
  test('D1 whatever the code: enqueue rejects only with retryable errors, and a returned handler is done once, with its follow-up and its result', async () => {
    const { mill, runs, troubles, parent } = scene()
    await mill.start()
    for (const code of inFull(CODES, ['XX000', 'QQ123'])) {
      const payload = next++
      const id = crypto.randomUUID()
      await refuseTimes('job', 2, code)
      // One code is refused for longer than the finisher waits before it drops refused data.
      await refuseTimes('attempt', code === 'XX000' ? 9 : 4, code)
      const job = await persistently(() => mill.enqueue(parent, payload, { id }))
      expect([code, await job.result({ timeout: '30s' })]).toEqual([code, { kept: payload }])
      expect([code, runs.get(payload), await childrenOf(mill, payload)]).toEqual([code, 1, 1])
      expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
    }
    expect(new Set(troubles)).toEqual(new Set(['finish']))
  }, 60_000)

  test('D1 P11 with XX000 for some of many enqueues at once: the others are written in seconds, and the rest once', async () => {
    const { mill } = scene()
    await refuse('job', `NEW.payload::text IN ('"odd"', '"strange"')`, 'XX000')
    const payloads = [...Array.from({ length: 40 }, (_, n) => n), 'odd', 'strange', 'fine']
    const answered: unknown[] = []
    const calls = payloads.map(async (payload) => {
      const job = await mill.enqueue('nobody', payload)
      answered.push(payload)
      return job.id
    })
    await Promise.all(calls.filter((_, at) => at < 40 || at === 42))
    expect(answered).toHaveLength(41)
    await define('job', 'false', 'P0001')
    expect(new Set(await Promise.all(calls)).size).toBe(43)
    expect(await mill.count({ kind: 'nobody' })).toMatchObject({ jobs: 43 })
  }, 60_000)

  test('D1 with 25P04 while a table is locked: the session ends, and everything is written once when the lock is free', async () => {
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
    // Wait until the server has ended the waiting session, and the next one waits.
    const first = await waiter('job')
    await expect.poll(() => waiter('job')).not.toBe(first)
    await holder.query('COMMIT')
    expect(await (await late).result({ timeout: '30s' })).toEqual({ kept: next })
    next += 1
  }, 40_000)

  test('D1 one job alone keeps being refused: its neighbors are written, and it is judged after several retries', async () => {
    const runs: number[] = []
    const plain = defineJob({
      kind: 'plain',
      run: ({ payload }: JobContext<number>) => {
        runs.push(payload)
        return { kept: payload }
      },
    })
    const mill = await testMill({
      store: ({ now }) => postgres(url, { schema: movedSchema, clock: now, notifier: false }),
      jobs: [plain],
    })
    onTestFinished(() => mill[Symbol.asyncDispose]())
    await refuse('attempt', `(NEW.result ->> 'kept')::int4 = 0`, 'QQ123', movedSchema)
    const stuck = await mill.enqueue(plain, 0)
    // Awaited before it is written, so that this process passes the result on without a query.
    const outcome = stuck.result().catch((error: unknown) => error)
    const states: unknown[] = []
    for (let n = 1; n <= 14; n += 1) {
      const { id } = await mill.enqueue(plain, n)
      await mill.clock.advance('2s')
      states.push((await mill.get(id))?.state, (await mill.get(stuck.id))?.state)
      expect(states.at(-2)).toBe('done')
    }
    // It was held for a while, because its write might still succeed.
    expect(states.filter((_, at) => at % 2 === 1)).toEqual([
      'running',
      ...Array.from({ length: 13 }, () => expect.stringMatching(/running|done/) as string),
    ])
    // Its work is done: only the value that cannot be written is missing, with the reason.
    expect(await outcome).toMatchObject({
      code: 'RESULT_NOT_KEPT',
      message: expect.stringContaining('refused by a trigger') as string,
    })
    expect(runs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, n) => n))
    expect(await mill.get(stuck.id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
  })
})

/** A mill on a fake clock. Payloads below zero make the handler throw. */
async function moved() {
  const runs = new Map<number, number>()
  const child = defineJob({ kind: 'child', run: ({ payload }: JobContext<number>) => payload })
  const parent = defineJob({
    kind: 'parent',
    maxAttempts: 3,
    backoff: { fixed: '1s' },
    run: async ({ payload, enqueue }: JobContext<number>) => {
      runs.set(payload, (runs.get(payload) ?? 0) + 1)
      if (payload < 0) throw new Error(`a text that is refused: ${payload}`)
      await enqueue(child, payload, { withCompletion: true, tags: [`of-${payload}`] })
      return { kept: payload }
    },
  })
  const mill = await testMill({
    store: ({ now }) => postgres(url, { schema: movedSchema, clock: now, notifier: false }),
    jobs: [parent, child],
  })
  onTestFinished(() => mill[Symbol.asyncDispose]())
  return { mill, runs, parent }
}

/** Advances time while jobs with these payloads are enqueued and run. */
async function amongOthers(
  { mill, parent }: Awaited<ReturnType<typeof moved>>,
  payload: () => number,
): Promise<void> {
  for (let times = 0; times < 16; times += 1) {
    await mill.enqueue(parent, payload(), { maxAttempts: 2 })
    await mill.clock.advance('2s')
  }
}

describe('postgres: outcomes that are refused because of their data', () => {
  test.each(inFull<readonly Table[]>(['attempt', 'job'], ['attempt']))(
    'H2 P1 a constraint that refuses every row of %s blames no job: none runs twice or is dead, and all outcomes are written once it is dropped',
    async (table) => {
      const { mill, runs, parent } = await moved()
      const payloads = [next++, next++, next++, -next++]
      const ids = await Promise.all(payloads.map(async (payload) => (await mill.enqueue(parent, payload)).id))
      const lift = () =>
        admin.query(`ALTER TABLE ${movedSchema}.${table} DROP CONSTRAINT IF EXISTS forgotten`)
      onTestFinished(async () => void (await lift()))
      await admin.query(
        `ALTER TABLE ${movedSchema}.${table} ADD CONSTRAINT forgotten CHECK (false) NOT VALID`,
      )
      // Long enough for each outcome to be refused more often than a verdict on its data takes.
      await mill.clock.advance(inFull('30s', '10s'))
      const done = payloads.filter((payload) => payload > 0)
      expect(done.map((payload) => runs.get(payload))).toEqual([1, 1, 1])
      const states = await Promise.all(ids.map(async (id) => (await mill.get(id))?.state))
      expect(states.slice(0, 3)).toEqual(['running', 'running', 'running'])
      expect(mill.events.find(({ type }) => type === 'store-failing')).toMatchObject({
        part: 'finish',
        error: { code: 'DATA_REFUSED' },
      })
      await lift()
      await mill.clock.advance('20s')
      for (const [at, payload] of payloads.entries()) {
        const [id = '', isDone] = [ids[at], payload > 0]
        const kept = isDone ? { state: 'done', result: { kept: payload } } : { state: 'dead', attempt: 3 }
        expect(await mill.get(id)).toMatchObject(kept)
        expect([runs.get(payload), await childrenOf(mill, payload)]).toEqual(isDone ? [1, 1] : [3, 0])
      }
      expect((await mill.get(ids[3] ?? ''))?.error).toContain('a text that is refused')
    },
  )

  test('H2 P1 temporary data errors lose no result and no follow-up, and rerun no handler', async () => {
    const { mill, runs, parent } = scene()
    await mill.start()
    for (const [table, code] of [
      ['attempt', '23514'],
      ['attempt', '22P05'],
      ['job', '54000'],
    ] as const) {
      const payload = next++
      const job = await mill.enqueue(parent, payload, { delay: '300ms' })
      await refuseTimes(table, 4, code)
      expect([code, await job.result({ timeout: '30s' })]).toEqual([code, { kept: payload }])
      expect([code, runs.get(payload), await childrenOf(mill, payload)]).toEqual([code, 1, 1])
      await define(table, 'false', 'P0001')
    }
  }, 60_000)

  test('D1 an error of data that passes after many refusals loses no result and no attempt', async () => {
    const { mill, runs, parent } = await moved()
    for (const times of inFull([5, 6, 7, 8, 9, 10, 11, 25], [6, 25])) {
      const payload = next++
      await refuseTimes('attempt', times, '23514', movedSchema)
      const { id } = await mill.enqueue(parent, payload)
      await mill.clock.advance('1m')
      const kept = { state: 'done', attempt: 1, result: { kept: payload } }
      expect([times, await mill.get(id)]).toMatchObject([times, kept])
      expect([runs.get(payload), await childrenOf(mill, payload)]).toEqual([1, 1])
    }
  })

  // In `npm test`, finish-alone.test.ts covers errors at random.
  test.each(inFull(['23514', 'QQ123'], []))(
    'D1 errors with %s that hit writes at random blame no job: each runs once, and is done with its result and its follow-up',
    async (code) => {
      const { mill, runs, parent } = await moved()
      await refuseMost('attempt', code, movedSchema)
      const payloads = Array.from({ length: 20 }, () => next++)
      const ids: string[] = []
      for (const payload of payloads) {
        ids.push((await mill.enqueue(parent, payload, { maxAttempts: 1 })).id)
        await mill.clock.advance('3s')
      }
      await define('attempt', 'false', 'P0001', movedSchema)
      await mill.clock.advance('20s')
      for (const [at, payload] of payloads.entries()) {
        expect(await mill.get(ids[at] ?? '')).toMatchObject({ state: 'done', result: { kept: payload } })
        expect([runs.get(payload), await childrenOf(mill, payload)]).toEqual([1, 1])
      }
    },
  )

  test('H2 P10 a completion in a user transaction: a committed one runs once, and a refused one is rolled back and retried', async () => {
    await admin.query(`CREATE TABLE IF NOT EXISTS ${schema}.person (name text)`)
    const user = new pg.Client({ connectionString: url })
    await user.connect()
    onTestFinished(() => user.end())
    const ran: string[] = []
    const named = defineJob({
      kind: 'named',
      backoff: () => 0,
      run: async ({ payload, complete }: JobContext<string>) => {
        ran.push(payload)
        await user.query('BEGIN')
        await user.query(`INSERT INTO ${schema}.person VALUES ($1)`, [payload])
        try {
          await complete(user, payload)
        } catch (error) {
          await user.query('ROLLBACK')
          throw error
        }
        await user.query('COMMIT')
        // From here on, writes of this process for the attempt are refused.
        if (payload === 'committed') await refuse('attempt', 'true', '23514')
      },
    })
    const store = postgres(url, { schema })
    const mill = jobmill({ store, jobs: [named], log: 'silent' })
    onTestFinished(async () => void (await mill.stop({ grace: 0 })))
    await mill.start()
    await refuseTimes('attempt', 1, '23514')
    const refused = await mill.enqueue(named, 'refused')
    expect(await refused.result({ timeout: '30s' })).toBe('refused')
    const finished = new Promise((resolve) => void mill.on('finished', resolve))
    const committed = await mill.enqueue(named, 'committed')
    expect(await committed.result({ timeout: '30s' })).toBe('committed')
    await finished
    expect(ran).toEqual(['refused', 'refused', 'committed'])
    const { rows } = await admin.query<{ name: string }>(`SELECT name FROM ${schema}.person ORDER BY name`)
    expect(rows.map(({ name }) => name)).toEqual(['committed', 'refused'])
    expect(await mill.get(committed.id)).toMatchObject({ state: 'done', attempt: 1 })
  }, 60_000)

  // The tests of finish-alone.test.ts cover the verdict, and the tests above cover refused follow-ups.
  test.nightly(
    'D1 follow-ups that are always refused spend an ordinary attempt each while those of others are written, and the job is dead only after the last',
    async () => {
      const scene = await moved()
      const { mill, runs, parent } = scene
      const payload = next++
      await refuse('job', `NEW.tags @> ARRAY['of-${payload}']`, '22P05', movedSchema)
      const job = await mill.enqueue(parent, payload)
      await amongOthers(scene, () => next++)
      expect(runs.get(payload)).toBe(3)
      expect(await mill.get(job.id)).toMatchObject({
        state: 'dead',
        error: expect.stringMatching(/could not be written.*refused by a trigger/s) as string,
      })
      const attempts = await mill.history(job.id)
      expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed'])
      expect(attempts[0]?.error).toContain('refused by a trigger')
      expect(await childrenOf(mill, payload)).toBe(0)
    },
  )

  test('D8 an outcome whose text is always refused is written with the reason in its place, and spends its attempt', async () => {
    const { mill, runs, parent } = await moved()
    const payload = -next++
    await refuse('attempt', `NEW.error LIKE '%refused: ${payload}%'`, '22P05', movedSchema)
    const job = await mill.enqueue(parent, payload)
    await mill.clock.advance('20s')
    expect(runs.get(payload)).toBe(3)
    const why = expect.stringMatching(/could not be stored: .*refused by a trigger/) as string
    expect(await mill.get(job.id)).toMatchObject({ state: 'dead', error: why })
    expect((await mill.history(job.id)).map(({ outcome, error }) => [outcome, error])).toEqual(
      Array.from({ length: 3 }, () => ['failed', why]),
    )
  })

  test('D8 an outcome that cannot be recorded at all, while others can, still spends its attempt', async () => {
    const scene = await moved()
    const { mill, runs, parent } = scene
    const payload = -next++
    const job = await mill.enqueue(parent, payload)
    await refuse('attempt', `NEW.job_id = '${job.id}'`, '22P05', movedSchema)
    await amongOthers(scene, () => -next++)
    expect(await mill.get(job.id)).toMatchObject({ attempt: 3 })
    expect(runs.get(payload)).toBe(3)
  })
})

/** Rows that only some jobs have, and how a job gets one. */
const BELONGINGS = [
  ['dedupe', '58030'],
  ['dedupe', '23514'],
  ['order_lock', 'XX001'],
  ['permit', '23514'],
] as const

describe('postgres: outcomes of one shape that are all refused while others are written', () => {
  test.each(BELONGINGS.slice(0, inFull(BELONGINGS.length, 1)))(
    'D1 H2 a table of %s that refuses with %s blames no job that has a row there, while jobs without one are done',
    async (table, code) => {
      const runs = new Map<number, number>()
      const keyed = defineJob({
        kind: 'keyed',
        queue: table === 'permit' ? 'limited' : 'default',
        maxAttempts: 3,
        backoff: { fixed: '1s' },
        run: ({ payload }: JobContext<number>) => {
          runs.set(payload, (runs.get(payload) ?? 0) + 1)
          return { kept: payload }
        },
      })
      const plain = defineJob({
        kind: 'plain',
        run: ({ payload }: JobContext<number>) => ({ kept: payload }),
      })
      const mill = await testMill({
        store: ({ now }) => postgres(url, { schema: movedSchema, clock: now, notifier: false }),
        jobs: [keyed, plain],
        limits: { gate: { concurrency: 10 } },
        queues: { limited: { limit: 'gate' } },
      })
      onTestFinished(() => mill[Symbol.asyncDispose]())
      const lift = () => admin.query(`DROP TRIGGER IF EXISTS refuse ON ${movedSchema}.${table}`)
      onTestFinished(async () => void (await lift()))
      await admin.query(
        `CREATE OR REPLACE FUNCTION ${movedSchema}.refuse_all() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'could not read a block' USING ERRCODE = '${code}'; END $$`,
      )
      await admin.query(
        `CREATE TRIGGER refuse BEFORE DELETE ON ${movedSchema}.${table} FOR EACH ROW EXECUTE FUNCTION ${movedSchema}.refuse_all()`,
      )
      const payloads = [next++, next++, next++]
      const ids: string[] = []
      for (const payload of payloads) {
        const key = `${table}-${code}-${payload}`
        const options = { dedupe: { dedupeKey: key }, order_lock: { orderKey: key }, permit: {} }
        ids.push((await mill.enqueue(keyed, payload, options[table])).id)
      }
      for (let times = 0; times < 16; times += 1) {
        await mill.enqueue(plain, next++)
        await mill.clock.advance('2s')
      }
      const others = (await mill.list({ kind: 'plain' })).jobs
      expect(new Set(others.map(({ state }) => state))).toEqual(new Set(['done']))
      expect(await Promise.all(ids.map(async (id) => (await mill.get(id))?.state))).toEqual(
        ids.map(() => 'running'),
      )
      await lift()
      await mill.clock.advance('5s')
      for (const [at, id] of ids.entries())
        expect(await mill.get(id)).toMatchObject({
          state: 'done',
          attempt: 1,
          result: { kept: payloads[at] },
        })
      expect(payloads.map((payload) => runs.get(payload))).toEqual([1, 1, 1])
    },
  )

  // test/sqlite/writing.test.ts has the same test, and the rule is that of the code above the stores.
  test.nightly(
    'D1 a job whose follow-ups are refused is settled within 20 s, alone and among steady ones',
    async () => {
      const { mill, runs, parent } = await moved()
      const [alone, steady] = [next++, next++]
      await refuse('job', `NEW.tags && ARRAY['of-${alone}', 'of-${steady}']`, '23514', movedSchema)
      const refused = await mill.enqueue(parent, alone)
      await mill.clock.advance('20s')
      expect(runs.get(alone)).toBeGreaterThan(1)
      await mill.clock.advance('1m')
      expect(await mill.get(refused.id)).toMatchObject({ state: 'dead', attempt: 3 })
      await mill.enqueue(parent, steady)
      for (let times = 0; times < 40; times += 1) {
        await mill.enqueue(parent, next++)
        await mill.clock.advance('500ms')
      }
      expect(runs.get(steady)).toBeGreaterThan(1)
    },
  )
})
