/** Faults of a PostgreSQL server, on a server of this file: restart, kill, drop, stall. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../../test/support/postgres/postgres-server.ts'
import { enqueuer } from '../../src/enqueue/enqueuer.ts'
import { onDeadKind, ON_DEAD_QUEUE } from '../../src/job/attempt/on-dead.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import { postgres } from '../../src/postgres.ts'
import { secondAddress } from '../../src/store-postgres/connection/server-address.ts'
import { wakeAll } from '../../src/store/types/wake-up.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, KIND, QUEUE, someJobs } from '../../../conformance/src/factories.ts'
import { rejection } from '../unit/support.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ binaries: 'current' })
})
afterAll(() => server.stop())

async function withStore<T>(schema: string, work: (store: FullStore) => Promise<T>): Promise<T> {
  const store = postgres(server.url, { schema })
  await store.open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Ends all our connections from the server's side. */
async function dropConnections(): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'jobmill%'`,
  )
  await client.end()
}

/** Empties the file of a relation, as a disk fault would. `relation` is an SQL expression. */
async function loseFile(relation: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query<{ file: string }>(`SELECT pg_relation_filepath(${relation}) AS file`)
  await client.query('CHECKPOINT')
  await client.end()
  await server.shutDown()
  const file = join(server.data, rows[0]?.file ?? '')
  writeFileSync(file, Buffer.alloc(statSync(file).size))
  await server.restart()
}

/** Calls until it succeeds; each failure must be retryable. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isJobmillError(error) || !error.retryable) throw error
    }
  }
}

describe('postgres recovers', () => {
  test('P16 after every connection was dropped: the next calls work and the process survives', () =>
    withStore('dropped', async (store) => {
      await store.enqueue([aJob()])
      await dropConnections()
      await eventually(() => store.counts())
      await eventually(() => store.enqueue([aJob()], { mayRepeat: true }))
      expect((await store.counts())[0]).toMatchObject({ ready: 2 })
    }))

  test('P16 after a restart and a crash of the server: every verb works again', () =>
    withStore('restarted', async (store) => {
      const me = anInstance({ leaseMs: 600_000 })
      await store.instances.register(me)
      // A single job, and a batch.
      const jobs = someJobs([{}, ...Array.from({ length: 30 }, () => ({ queue: 'many' }))])
      await store.enqueue(jobs)
      await server.restart()
      const [lease] = await eventually(() => store.claim(aClaim(me.id)))
      expect(lease?.id).toBe(jobs[0]?.id)
      const many = await store.claim(aClaim(me.id, { queues: [{ queue: 'many', room: 30 }] }))
      expect(many).toHaveLength(30)
      await server.kill()
      await expect(store.counts()).rejects.toMatchObject({ retryable: true })
      await server.restart()
      const finishes = [lease, ...many].map(
        (one) =>
          ({
            id: one?.id ?? '',
            token: one?.token ?? 0,
            outcome: 'returned',
            transition: { to: 'done', result: null },
          }) as const,
      )
      const accepted = jobs.map(() => ({ accepted: true, state: 'done' }))
      const part = await eventually(() => store.finish(finishes.slice(0, 11)))
      expect(part).toMatchObject(accepted.slice(0, 11))
      expect(await store.instances.held(me.id)).toHaveLength(20)
      // Another process does not know the batch.
      await withStore('restarted', async (other) =>
        expect(await other.finish(finishes.slice(11))).toMatchObject(accepted.slice(11)),
      )
      expect(await store.instances.held(me.id)).toEqual([])
    }))

  test('D1 P3 a job that the server cannot read is dead, its onDead runs, and the jobs behind it are claimed', () =>
    withStore('damaged', async (store) => {
      const me = anInstance({ leaseMs: 600_000, onDead: [KIND] })
      await store.instances.register(me)
      const jobs = someJobs([{}, { payload: randomBytes(20_000).toString('hex') }, {}, {}])
      await store.enqueue(jobs)
      await loseFile(`(SELECT reltoastrelid FROM pg_class WHERE oid = 'damaged.job'::regclass)`)
      const [first, damaged, ...rest] = jobs
      const leases = await eventually(() => store.claim(aClaim(me.id)))
      expect(leases.map(({ id }) => id)).toEqual([first, ...rest].map((job) => job?.id))
      expect(await store.history(damaged?.id ?? '')).toMatchObject([
        {
          outcome: 'failed-permanently',
          error: expect.stringMatching(
            /^the database cannot read the data of this job: missing chunk/,
          ) as string,
        },
      ])
      const [followUp] = await store.claim(
        aClaim(me.id, { queues: [{ queue: ON_DEAD_QUEUE, room: 1 }], kinds: [onDeadKind(KIND)] }),
      )
      expect(JSON.parse(followUp?.payload ?? '{}')).toMatchObject({ id: damaged?.id, kind: KIND })
      expect(await store.delete([damaged?.id ?? ''])).toMatchObject([{ verdict: 'changed' }])
    }))

  test('D1 P3 an internal error of the server ends no job that it can read', () =>
    withStore('internal', async (store) => {
      const me = anInstance({ leaseMs: 600_000 })
      await store.instances.register(me)
      const [job] = await store.enqueue([aJob()])
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      await client.query(
        `CREATE FUNCTION internal.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE 'XX000'; END $$;
         CREATE TRIGGER fail BEFORE INSERT ON internal.running FOR EACH ROW EXECUTE FUNCTION internal.fail()`,
      )
      await expect(store.claim(aClaim(me.id))).rejects.toMatchObject({ retryable: true })
      await client.query('DROP TRIGGER fail ON internal.running')
      await client.end()
      expect(await store.claim(aClaim(me.id))).toMatchObject([{ id: job?.id }])
    }))

  test('D1 P3 a damaged index ends no job', () =>
    withStore('index', async (store) => {
      const me = anInstance({ leaseMs: 600_000 })
      await store.instances.register(me)
      await store.enqueue(someJobs(Array.from({ length: 300 }, () => ({}))))
      await loseFile(`'index.job_pkey'`)
      await eventually(() => store.now())
      await expect(store.claim(aClaim(me.id))).rejects.toThrow(/XX002/)
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      await client.query('REINDEX INDEX index.job_pkey')
      await client.end()
      expect(await eventually(() => store.claim(aClaim(me.id)))).toHaveLength(300)
    }))

  test('P16 waiting callers are woken again once the notifier has reconnected', async () => {
    const there = postgres(server.url, { schema: 'notifier' })
    const here = postgres(server.url, { schema: 'notifier' })
    await there.open()
    await here.open()
    try {
      await dropConnections()
      const wait = () => here.notifier.wait({ queues: [QUEUE], timeoutMs: 20_000 })
      // A reconnect wakes waiters, because a notification may have been missed; later notifications arrive.
      // A wait that began before the loss was noticed ends empty, and its caller waits again.
      const first = await wait()
      expect(first.length > 0 ? first : await wait()).toEqual([wakeAll(QUEUE)])
      const again = wait()
      await eventually(() => there.enqueue([aJob()], { mayRepeat: true }))
      expect(await again).toMatchObject([{ queue: QUEUE, jobs: 1, skip: 0, passes: true }])
    } finally {
      await there.close()
      await here.close()
    }
  })

  test('P11 P1 P3 enqueues that lose their reply to dropped connections store each job exactly once', () =>
    withStore('unknown', async (store) => {
      const { enqueue } = enqueuer(store)
      const ids: string[] = []
      const drops: Promise<void>[] = []
      const producers = Array.from({ length: 8 }, async (_, producer) => {
        for (let n = 0; n < 25; n += 1) {
          const [reply] = await eventually(() => enqueue([{ kind: KIND, payload: { producer, n } }]))
          // While seven other calls have a write in flight.
          if (reply !== undefined && ids.push(reply.id) % 5 === 0) drops.push(dropConnections())
        }
      })
      await Promise.all(producers)
      await Promise.all(drops)
      const jobs = await eventually(() => store.get(ids))
      expect(jobs.filter((job) => job === null)).toEqual([])
      const payloads = new Set(jobs.map((job) => job?.payload))
      expect(payloads.size).toBe(200)
      expect((await eventually(() => store.counts()))[0]?.ready).toBe(200)
    }))

  test('P16 a statement without an answer in time has an unknown outcome, and its connection is closed', async () => {
    const holder = new pg.Client({ connectionString: server.url })
    await holder.connect()
    // Created with enough time for a busy machine.
    await withStore('stalled', async () => {})
    const store = postgres(server.url, { schema: 'stalled', deadline: '2s', notifier: false })
    await store.open()
    try {
      await store.enqueue([aJob()])
      await holder.query('BEGIN; LOCK TABLE stalled.job IN ACCESS EXCLUSIVE MODE')
      await expect(store.enqueue([aJob()])).rejects.toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        retryable: true,
      })
      await holder.query('ROLLBACK')
      await eventually(() => store.counts())
    } finally {
      await holder.end()
      await store.close()
    }
  })

  test('an unreachable server is reported as such, and open can be called again', async () => {
    const store = postgres(server.url, { schema: 'later', notifier: false })
    await server.kill()
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await server.restart()
    await eventually(() => store.open())
    await store.enqueue([aJob()])
    await store.close()
  })

  test('a default isolation level other than READ COMMITTED changes nothing', async () => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'`)
    await client.end()
    try {
      await withStore('serializable', async (store) => {
        const others = Array.from({ length: 20 }, () => aJob({ dedupe: { key: 'same' } }))
        const replies = await Promise.all(others.map((job) => store.enqueue([job])))
        expect(replies.flat().filter(({ outcome }) => outcome === 'enqueued')).toHaveLength(1)
      })
    } finally {
      const undo = new pg.Client({ connectionString: server.url })
      await undo.connect()
      await undo.query(`ALTER DATABASE postgres RESET default_transaction_isolation`)
      await undo.end()
    }
  })
})

const CONNECTION = { host: '127.0.0.1', user: 'postgres', database: 'postgres' }

async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const rightPassword = (): string => 'one'

/** A role with a password, unlike all others of this server. */
async function withPassword(): Promise<{ change: (password: string) => Promise<unknown> }> {
  const change = (password: string): Promise<unknown> =>
    asAdmin((client) => client.query(`ALTER ROLE app PASSWORD '${password}'`))
  await asAdmin(async (client) => {
    const { rowCount } = await client.query(`SELECT FROM pg_roles WHERE rolname = 'app'`)
    if (rowCount === 0) await client.query('CREATE ROLE app LOGIN SUPERUSER')
  })
  await change('one')
  const hba = join(server.data, 'pg_hba.conf')
  const before = readFileSync(hba, 'utf8')
  if (!before.includes(' app ')) writeFileSync(hba, `host all app 127.0.0.1/32 scram-sha-256\n${before}`)
  await asAdmin((client) => client.query('SELECT pg_reload_conf()'))
  return { change }
}

const at = (password: string): string => `postgres://app${password}@127.0.0.1:${server.port}/postgres`

describe('postgres: connection settings', () => {
  test('N7 the settings of a pg.Pool are read, also by the tools, and none of its connections is used', async () => {
    await withPassword()
    const settings = { ...CONNECTION, port: server.port, user: 'app' }
    const right = new pg.Pool({ ...settings, password: 'one' })
    const store = postgres({ pool: right, schema: 'pooled' })
    expect(store.name).toBe(`postgres app@127.0.0.1:${server.port}/postgres schema pooled`)
    // Also when an expectation fails: a notifier that reconnects without end would fail the files after this
    // one.
    onTestFinished(() => store.close())
    await store.open()
    await store.enqueue([aJob()])
    const errors = (await store.tools.diagnose()).filter(({ level }) => level === 'error')
    // Test servers run with fsync off, which the doctor reports.
    expect(errors.map(({ check }) => check)).toEqual(['durability'])
    await store.close()
    expect(right.totalCount).toBe(0)
    const wrong = postgres({ pool: new pg.Pool({ ...settings, password: 'another' }) })
    await expect(wrong.open()).rejects.toMatchObject({ code: 'STORE_REFUSED' })
  })

  test.each(['url', 'connection', 'pool'] as const)(
    'N7 with %s, a password function is called for every connection, so a rotated password works after a reconnect',
    async (way) => {
      const { change } = await withPassword()
      let current = 'one'
      let calls = 0
      const password = (): Promise<string> => {
        calls += 1
        return Promise.resolve(current)
      }
      const settings = { ...CONNECTION, port: server.port, user: 'app' }
      const where = {
        url: { url: `postgres://app@127.0.0.1:${server.port}/postgres`, password },
        connection: { connection: settings, password },
        pool: { pool: new pg.Pool({ ...settings, password }) },
      }[way]
      const store = postgres({ ...where, schema: 'rotated' })
      await store.open()
      await store.enqueue([aJob()])
      // For statements, and to listen.
      expect(calls).toBeGreaterThanOrEqual(2)
      const before = calls
      await change('two')
      current = 'two'
      await dropConnections()
      await eventually(() => store.counts())
      await store.tools.schema()
      expect(calls).toBeGreaterThanOrEqual(before + 2)
      await store.close()
    },
  )

  test.each([
    ['a password function', { password: (): string => 'one' }],
    [
      'a connection string',
      { connectionString: (port: number) => `postgres://app:one@127.0.0.1:${port}/postgres` },
    ],
  ] as const)('N7 a notifier without a password uses that of the pool, given by %s', async (_, login) => {
    await withPassword()
    const pool = new pg.Pool(
      'connectionString' in login
        ? { connectionString: login.connectionString(server.port) }
        : { ...CONNECTION, port: server.port, user: 'app', ...login },
    )
    const notifier = `postgres://app@127.0.0.1:${server.port}/postgres`
    const checks = await postgres({ pool, notifier, schema: 'listens' }).tools.diagnose()
    expect(checks.find(({ check }) => check === 'notifier')).toMatchObject({ level: 'ok' })
    const other = `postgres://nobody@127.0.0.1:${server.port}/postgres`
    const refused = await postgres({ pool, notifier: other, schema: 'listens' }).tools.diagnose()
    expect(refused.find(({ check }) => check === 'notifier')?.level).not.toBe('ok')
  })

  test('S low a notifier without a password uses that of a store URL, for the same user', async () => {
    await withPassword()
    const levels: unknown[] = []
    for (const user of ['app', 'nobody']) {
      const notifier = `postgres://${user}@127.0.0.1:${server.port}/postgres`
      const checks = await postgres(at(':one'), { notifier, schema: 'listens' }).tools.diagnose()
      levels.push(checks.find(({ check }) => check === 'notifier')?.level === 'ok')
    }
    expect(levels).toEqual([true, false])
  })

  test('S low a notifier without TLS options uses those of a store URL', () => {
    const store = 'postgres://app:one@pooler/app?schema=x&sslmode=no-verify'
    const bare = 'postgres://app:two@server/app'
    for (const from of [store, { connectionString: store }]) {
      expect(secondAddress(bare, from, {})).toBe(`${bare}?sslmode=no-verify`)
      expect(secondAddress(`${bare}?sslmode=disable`, from, {})).toBe(`${bare}?sslmode=disable`)
      expect(secondAddress(bare, from, { ssl: true })).toEqual({ connectionString: bare, ssl: true })
    }
  })

  test('N7 the password of a connection string wins over the field of a pool, as in pg, but not over settings of ours', async () => {
    await withPassword()
    const given: [string, string, 'string' | 'field' | 'both'][] = [
      [':one', 'wrong', 'string'],
      [':wrong', 'one', 'field'],
      ['', 'one', 'both'],
    ]
    for (const [inString, password, right] of given) {
      const settings = { connectionString: at(inString), password }
      for (const where of [{ pool: new pg.Pool(settings) }, { connection: settings }]) {
        const { tools } = postgres({ ...where, schema: 'precedence' })
        const outcome = await tools.schema().then(
          () => 'ok',
          (error: unknown) => (error as { code?: string }).code,
        )
        const isRight = right === 'both' || right === ('pool' in where ? 'string' : 'field')
        expect(outcome).toBe(isRight ? 'ok' : 'STORE_REFUSED')
      }
    }
    const pool = new pg.Pool({ connectionString: at(':wrong') })
    expect(await postgres({ pool, password: 'one' }).tools.schema()).toBeDefined()
  })

  test('H6 a password function that fails is reported at once with its reason, and called again later', async () => {
    await withPassword()
    const answers: (() => unknown)[] = [
      () => Promise.reject(new Error('the vault is sealed')),
      () => {
        throw new Error('the vault is sealed')
      },
      () => 42,
      () => Promise.resolve(undefined),
    ]
    let answer: () => unknown = rightPassword
    const connection = { ...CONNECTION, port: server.port, user: 'app' }
    const password = (): string => answer() as string
    const store = postgres({ connection, password, schema: 'sealed', notifier: false })
    onTestFinished(() => store.close())
    for (const wrong of answers) {
      answer = wrong
      const error = await rejection(() => store.open())
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', field: 'password', retryable: true })
      expect(error.message).toMatch(/the vault is sealed|did not return a string/)
    }
    answer = rightPassword
    await store.open()
    answer = answers[0] ?? answer
    await dropConnections()
    await expect.poll(() => store.counts().then(() => '', String)).toContain('the vault is sealed')
    answer = rightPassword
    await eventually(() => store.counts())
  })

  test('S low a password function that never settles is named in the error', async () => {
    const connection = { ...CONNECTION, port: server.port, user: 'app' }
    const password = Promise.withResolvers<string>()
    const store = postgres({
      connection,
      password: () => password.promise,
      deadline: '1s',
      notifier: false,
    })
    onTestFinished(() => store.close())
    const error = await rejection(() => store.open())
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', field: 'password', retryable: true })
    expect(error.message).toContain('password: the password function did not respond within 1000 ms')
  })

  test('S low without TLS on the server, the error names the option ssl', async () => {
    const store = postgres({ connection: { ...CONNECTION, port: server.port }, ssl: true, notifier: false })
    onTestFinished(() => store.close())
    const error = await rejection(() => store.open())
    expect(error).toMatchObject({ code: 'STORE_REFUSED' })
    expect(error.message).toContain('the server does not support TLS. Omit the option ssl, remove sslmode')
  })

  test('H6 unknown keys of `connection` are refused with the nearest name', () => {
    const options = { ...CONNECTION, pasword: 'secret' } as typeof CONNECTION
    expect(() => postgres({ connection: options })).toThrow(/connection\.pasword.*Did you mean "password"/)
  })

  test('N7 ssl applies to every connection: statements, LISTEN and tools', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jobmill-tls-'))
    const [key, cert] = [join(folder, 'server.key'), join(folder, 'server.crt')]
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=jobmill']
    const names = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]
    execFileSync('openssl', [...request, ...names], { stdio: 'ignore' })
    const ca = readFileSync(cert, 'utf8')
    await asAdmin(async (client) => {
      for (const [name, text] of [
        ['server.key', readFileSync(key, 'utf8')],
        ['server.crt', ca],
      ] as const) {
        const lines = `SELECT unnest(string_to_array(${pg.escapeLiteral(text)}, E'\\n'))`
        await client.query(`COPY (${lines}) TO PROGRAM 'cat > ${name} && chmod 600 ${name}'`)
      }
      // A role that the server accepts only over TLS.
      await client.query('CREATE ROLE secure LOGIN SUPERUSER')
      const hba = join(server.data, 'pg_hba.conf')
      writeFileSync(hba, `hostnossl all secure 127.0.0.1/32 reject\n${readFileSync(hba, 'utf8')}`)
      await client.query('ALTER SYSTEM SET ssl = on')
      await client.query('SELECT pg_reload_conf()')
    })
    rmSync(folder, { recursive: true })
    const connection = { ...CONNECTION, port: server.port, user: 'secure' }
    const store = postgres({ connection, ssl: { ca }, schema: 'tls' })
    await eventually(() => store.open())
    await store.enqueue([aJob()])
    const { rows } = await asAdmin((client) =>
      client.query(`SELECT application_name, bool_and(ssl) AS ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
                     WHERE application_name LIKE 'jobmill%' GROUP BY 1 ORDER BY 1`),
    )
    expect(rows).toEqual([
      { application_name: 'jobmill', ssl: true },
      { application_name: 'jobmill notifier', ssl: true },
    ])
    expect((await store.tools.schema()).isThere).toBe(true)
    const checks = await store.tools.diagnose()
    expect(checks.find(({ check }) => check === 'notifier')).toMatchObject({ level: 'ok' })
    await store.close()
    // No authority has signed this certificate.
    const other = postgres({ connection: { ...CONNECTION, port: server.port }, ssl: true })
    await expect(other.open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})
