/** Jobs that SQL enqueues: their rows equal those of code. Also events, cancels, refusals and roles. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { defineJob, type EnqueueOptions, type JobContext, jobmill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'sql')
const producer = `${schema}_producer`
const pool = new pg.Pool({ connectionString: url, max: 4 })

const send = defineJob({
  kind: 'email.send',
  queue: 'mail',
  priority: 7,
  maxAttempts: 3,
  indexedPayload: ['to', 'size'],
  run: ({ payload }: JobContext<{ to: string; size?: number }>) => `sent to ${payload.to}`,
})
const routed = defineJob({ kind: 'report.build', run: ({ payload }: JobContext) => payload })
const wait = defineJob({ kind: 'wait', run: ({ step }) => step.waitForEvent('paid', { timeout: '1h' }) })
const hold = defineJob({
  kind: 'hold',
  run: ({ signal }: JobContext) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
})
const mill = jobmill({
  store: postgres(url, { schema }),
  jobs: [send, routed, wait, hold],
  route: { 'report.build': 'reports' },
  log: 'silent',
  grace: 0,
})

beforeAll(async () => {
  await mill.start()
  await mill.queues()
  await pool.query(`
    CREATE TABLE ${schema}.account (name text PRIMARY KEY);
    CREATE ROLE ${producer} LOGIN;
    GRANT USAGE ON SCHEMA ${schema} TO ${producer};
    GRANT EXECUTE ON FUNCTION ${schema}.enqueue(text, json, jsonb), ${schema}.send_event(uuid, text, json), ${schema}.cancel(uuid, text) TO ${producer}`)
})
afterAll(async () => {
  await mill.stop()
  await pool.query(`DROP OWNED BY ${producer}; DROP ROLE ${producer}`)
  await pool.end()
})

type Runs = Pick<pg.ClientBase, 'query'>

async function enqueued(
  kind: string,
  payload: unknown,
  options: object = {},
  by: Runs = pool,
): Promise<string> {
  const { rows } = await by.query<{ id: string }>(`SELECT ${schema}.enqueue($1, $2, $3) AS id`, [
    kind,
    JSON.stringify(payload),
    JSON.stringify(options),
  ])
  return rows[0]?.id ?? ''
}

const isNumber = (value: unknown): boolean => typeof value === 'number'

/** All rows of a job, without what differs between two equal jobs: ids, instants and places. */
async function rowsOf(id: string): Promise<unknown> {
  const tables = ['job', 'ready', 'later', 'order_queue', 'running', 'job_tag', 'dedupe', 'child']
  const found = await Promise.all(
    tables.map(async (table) => {
      const key = ['job_tag', 'dedupe'].includes(table) ? 'job_id' : 'id'
      const { rows } = await pool.query<Record<string, unknown>>(
        `SELECT to_jsonb(t) AS row FROM ${schema}.${table} AS t WHERE t.${key} = $1 ORDER BY to_jsonb(t)::text`,
        [id],
      )
      return [
        table,
        rows.map(({ row }) => {
          const {
            id: _,
            job_id,
            enqueued_at,
            ready_at,
            due_at,
            seq,
            pos,
            ...rest
          } = row as Record<string, unknown>
          return {
            ...rest,
            isDue: [enqueued_at, ready_at, due_at].map(isNumber),
            isPlaced: [seq, pos].map(isNumber),
            job: job_id === id,
          }
        }),
      ] as const
    }),
  )
  return Object.fromEntries(found)
}

/** The rows of a job that has the same options, but no key that another job holds. */
const CASES: [name: string, kind: string, payload: unknown, options: EnqueueOptions][] = [
  ['no options, of a paused queue', 'email.send', { to: 'ada@example.com' }, {}],
  ['an indexed number', 'email.send', { to: 'ada@example.com', size: 1.5e3 }, {}],
  ['a kind that a route names', 'report.build', [1, { deep: 'ä"\\' }], {}],
  ['a kind that no process defines', 'unknown.kind', null, {}],
  [
    'every option',
    'email.send',
    { to: 'a' },
    {
      queue: 'other',
      priority: -3,
      maxAttempts: 9,
      delay: '1h30m',
      timeout: '90s',
      tags: ['b', 'a', 'b'],
      metadata: { from: 'sql' },
      orderKey: 'customer 7',
    },
  ],
  ['an instant', 'email.send', { to: 'a' }, { runAt: '2199-01-01T00:00:00Z', tags: ['späť'] }],
  ['an order key', 'email.send', { to: 'a' }, { orderKey: 'customer 8' }],
]

describe('postgres: a job that SQL enqueues', () => {
  beforeAll(async () => {
    for (const queue of ['mail', 'reports', 'other', 'default']) {
      await enqueued('noop', null, { queue, delay: '1d' })
      await mill.pause(queue)
    }
  })

  test.each(CASES)(
    'P21 has the rows of one that code enqueues: %s',
    async (_name, kind, payload, options) => {
      // Both wait behind it for their order lock.
      if (options.orderKey !== undefined) await mill.enqueue(kind, payload, options)
      const byCode = await mill.enqueue(kind, payload, options)
      const bySql = await enqueued(kind, payload, options)
      expect(await rowsOf(bySql)).toEqual(await rowsOf(byCode.id))
      await mill.cancel(byCode.id)
      await mill.cancel(bySql)
    },
  )

  test.each(['global', 'queue', 'kind'] as const)(
    'P21 shares dedupe keys with code, in the scope %s',
    async (scope) => {
      const dedupe = { key: `key ${scope}`, scope, holdFor: '1h', holdAfter: 'ended' } as const
      const first = await enqueued('email.send', { to: 'a' }, { dedupe })
      expect(await mill.enqueue(send, { to: 'b' }, { dedupe })).toMatchObject({
        id: first,
        outcome: 'duplicate',
      })
      expect(await enqueued('email.send', { to: 'b' }, { dedupe })).toBe(first)
      const other = await mill.enqueue(send, { to: 'a' }, { dedupe: { ...dedupe, key: `other ${scope}` } })
      const others = JSON.stringify(await rowsOf(other.id)).replaceAll('other ', 'key ')
      expect(JSON.stringify(await rowsOf(first))).toBe(others)
    },
  )

  test('P11 enqueuing the same id twice is one job', async () => {
    const id = crypto.randomUUID()
    expect(await enqueued('email.send', { to: 'a' }, { id, dedupeKey: 'once' })).toBe(id)
    expect(await enqueued('email.send', { to: 'b' }, { id, dedupeKey: 'twice' })).toBe(id)
    expect(await mill.get(id)).toMatchObject({ payload: { to: 'a' } })
    expect(await mill.holder('twice')).toBeNull()
  })

  test.each(['COMMIT', 'ROLLBACK'])(
    'P21 of two transactions with one dedupe key, the second waits for the %s of the first',
    async (end) => {
      const options = { dedupeKey: `contended ${end}` }
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const first = await enqueued('email.send', { to: 'a' }, options, client)
        const second = enqueued('email.send', { to: 'b' }, options)
        const isWaiting = async () =>
          (
            await pool.query(
              `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}.enqueue%'`,
            )
          ).rows.length
        await expect.poll(isWaiting, { timeout: 10_000 }).toBe(1)
        await client.query(end)
        expect((await second) === first).toBe(end === 'COMMIT')
        expect(await mill.holder(options.dedupeKey)).toBe(await second)
      } finally {
        client.release()
      }
    },
  )

  test('has the time of the server in its id, in version 7', async () => {
    const before = Date.now()
    const id = await enqueued('email.send', { to: 'a' })
    expect(id[14]).toBe('7')
    expect(Math.abs(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) - before)).toBeLessThan(60_000)
  })

  test('P10 exists only if the transaction commits, also from a trigger', async () => {
    await pool.query(`
      CREATE FUNCTION ${schema}.greet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM ${schema}.enqueue('email.send', json_build_object('to', NEW.name), '{"dedupeKey": "trigger"}');
        RETURN NEW;
      END $$;
      CREATE TRIGGER greet AFTER INSERT ON ${schema}.account FOR EACH ROW EXECUTE FUNCTION ${schema}.greet()`)
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(`INSERT INTO ${schema}.account VALUES ('ada')`)
      await client.query('ROLLBACK')
      expect(await mill.holder('trigger')).toBeNull()
      await client.query(`INSERT INTO ${schema}.account VALUES ('ada')`)
    } finally {
      client.release()
    }
    const id = await mill.holder('trigger')
    expect(await mill.get(id ?? '')).toMatchObject({ payload: { to: 'ada' }, queue: 'mail' })
  })

  test('P21 runs without a call of this process', async () => {
    await mill.resume('reports')
    const id = await enqueued('report.build', { pages: 3 })
    expect(await mill.job(id).result()).toEqual({ pages: 3 })
  })
})

const cancel = async (id: string): Promise<unknown> =>
  (await pool.query<{ state: string }>(`SELECT ${schema}.cancel($1, 'not wanted') AS state`, [id])).rows[0]
    ?.state

describe('postgres: events and cancels from SQL', () => {
  test('P21 an event continues the job, and a job that has ended refuses it', async () => {
    await mill.resume('default')
    const job = await mill.enqueue('wait')
    const outcomes = async () => (await mill.history(job.id)).map(({ outcome }) => outcome)
    await expect.poll(outcomes, { timeout: 10_000 }).toEqual(['parked'])
    // Its own look for early events is over.
    const looks = async () => (await pool.query(`SELECT id FROM ${schema}.wake`)).rows.length
    await expect.poll(looks, { timeout: 10_000 }).toBe(0)
    const sent = await pool.query(`SELECT ${schema}.send_event($1, 'paid', '{"by": "stripe"}') AS id`, [
      job.id,
    ])
    expect(sent.rows).toEqual([{ id: job.id }])
    expect(await job.result()).toEqual({ by: 'stripe' })
    const again = pool.query(`SELECT ${schema}.send_event($1, 'paid')`, [job.id])
    await expect(again).rejects.toMatchObject({ detail: 'JOB_ENDED' })
    const unknown = pool.query(`SELECT ${schema}.send_event($1, 'paid')`, [crypto.randomUUID()])
    await expect(unknown).rejects.toMatchObject({ detail: 'JOB_UNKNOWN' })
  })

  test('P8 a waiting job is cancelled at once, and a running one is asked to stop', async () => {
    const waiting = await mill.enqueue(send, { to: 'a' }, { delay: '1h', dedupeKey: 'to cancel' })
    expect(await cancel(waiting.id)).toBe('cancelled')
    expect(await mill.get(waiting.id)).toMatchObject({ state: 'cancelled', error: 'not wanted' })
    expect(await mill.holder('to cancel')).toBeNull()
    expect(await cancel(waiting.id)).toBe('cancelled')

    const running = await mill.enqueue(hold, null)
    await expect.poll(async () => (await mill.get(running.id))?.state, { timeout: 10_000 }).toBe('running')
    expect(await cancel(running.id)).toBe('running')
    await expect(running.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
    await expect(cancel(crypto.randomUUID())).rejects.toMatchObject({ detail: 'JOB_UNKNOWN' })
  })
})

const LARGE = JSON.stringify('x'.repeat(1_048_576))

describe('postgres: what SQL refuses', () => {
  test.each([
    ['my kind', {}, 'NAME_INVALID', /^kind: is not a valid name \(got "my kind"\)\. Use letters/],
    ['', {}, 'NAME_INVALID', /^kind: must be a non-empty string/],
    ['a', { dely: 1 }, 'OPTION_UNKNOWN', /^options: unknown option "dely"\. Use one of id, queue, /],
    ['a', [], 'OPTION_INVALID', /^options: must be an object/],
    [
      'a',

      { delay: 'soon' },
      'DURATION_INVALID',
      /^delay: must be a duration from 0 ms to 3650d \(got "soon"\)/,
    ],
    ['a', { delay: -1 }, 'DURATION_INVALID', /^delay: /],
    ['a', { timeout: 0 }, 'DURATION_INVALID', /^timeout: /],
    ['a', { runAt: '2027-01-01T00:00' }, 'INSTANT_INVALID', /^runAt: /],
    ['a', { runAt: 1_800_000_000 }, 'INSTANT_INVALID', /^runAt: /],
    ['a', { runAt: 0, delay: 0 }, 'OPTION_CONFLICT', /^delay: cannot be combined with runAt/],
    ['a', { priority: 1.5 }, 'NUMBER_INVALID', /^priority: must be a whole number \(got 1\.5\)/],
    ['a', { maxAttempts: 0 }, 'NUMBER_INVALID', /^maxAttempts: /],
    ['a', { id: 'order-42' }, 'ID_INVALID', /^id: must be a UUID/],
    ['a', { id: null }, 'ID_INVALID', /^id: must be a UUID/],
    ['a', { tags: 'x' }, 'OPTION_INVALID', /^tags: must be an array/],
    ['a', { tags: [7] }, 'NAME_INVALID', /^tags: must be a non-empty string/],
    [
      'a',

      { tags: Array.from({ length: 21 }, (_, n) => `${n}`) },
      'OPTION_INVALID',
      /^tags: has more than 20/,
    ],
    ['a', { metadata: [] }, 'OPTION_INVALID', /^metadata: must be an object/],
    ['a', { orderKey: 'a\nb' }, 'NAME_INVALID', /^orderKey: has a control character/],
    [
      'a',

      { dedupe: { key: 'k', onConflict: 'replace' } },
      'OPTION_INVALID',
      /^dedupe\.onConflict: must be "keep" in SQL/,
    ],
    ['a', { dedupe: { key: 'k', scope: 'shop' } }, 'OPTION_INVALID', /^dedupe\.scope: /],
    ['a', { dedupe: { key: 'k', holdAfter: 'ended' } }, 'OPTION_CONFLICT', /^dedupe\.holdAfter: /],
    ['a', { dedupe: {} }, 'NAME_INVALID', /^dedupe\.key: /],
    ['a', { dedupe: { key: 'k' }, dedupeKey: 'k' }, 'OPTION_CONFLICT', /^dedupeKey: /],
    ['a', {}, 'PAYLOAD_TOO_LARGE', /^payload: has 1048578 bytes/],
  ])('%s with options %j: %s', async (kind, options, code, message) => {
    const failed = pool.query(`SELECT ${schema}.enqueue($1, $2, $3)`, [
      kind,
      code === 'PAYLOAD_TOO_LARGE' ? LARGE : '{}',
      JSON.stringify(options),
    ])
    await expect(failed).rejects.toMatchObject({
      detail: code,
      hint: expect.any(String) as string,
      message: expect.stringMatching(message) as string,
    })
  })

  test.each(['"\\u0000"', '"\\ud800"', '{'])('the payload %s, which is no storable JSON', async (payload) => {
    await expect(pool.query(`SELECT ${schema}.enqueue('a', $1)`, [payload])).rejects.toThrow(/Unicode|json/)
  })
})

describe('postgres: roles for producers', () => {
  test('P21 a role with EXECUTE alone can enqueue, send events and cancel, and nothing else', async () => {
    const client = await pool.connect()
    try {
      await client.query(`SET ROLE ${producer}`)
      const id = await enqueued(
        'email.send',
        { to: 'a' },
        { delay: '1h', tags: ['by role'], queue: 'new-queue' },
        client,
      )
      await client.query(`SELECT ${schema}.cancel($1)`, [id])
      for (const statement of [
        `SELECT * FROM ${schema}.job`,
        `INSERT INTO ${schema}.kind (name) VALUES ('x')`,
        `UPDATE ${schema}.queue SET paused = true`,
        `SELECT ${schema}.unpack(NULL, NULL, NULL)`,
        `SELECT ${schema}.queue_id('another')`,
        `SELECT ${schema}.state_of('${id}')`,
        `CREATE TABLE ${schema}.own (n int4)`,
      ])
        await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' })
    } finally {
      await client.query('RESET ROLE')
      client.release()
    }
  })

  test('P21 without the right to execute it, a role cannot enqueue', async () => {
    const role = `${schema}_other`
    await pool.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
    const client = await pool.connect()
    try {
      await client.query(`SET ROLE ${role}`)
      for (const call of [`enqueue('a')`, `send_event(NULL, 'a')`, 'cancel(NULL)'])
        await expect(client.query(`SELECT ${schema}.${call}`)).rejects.toMatchObject({ code: '42501' })
    } finally {
      await client.query('RESET ROLE')
      client.release()
      await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    }
  })
})
