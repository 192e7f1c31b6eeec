/**
 * The database disappears under running mills: dropped, emptied, or replaced by an older copy. They recover
 * on their own.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { defineJob, jobmill, type LimitOptions, type Mill } from '../../src/index.ts'
import type { AnyJob, JobDefinition } from '../../src/job/kind/definition.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres } from '../../src/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const admin = new pg.Client({ connectionString: url })
const databases: string[] = []
beforeAll(() => admin.connect())
afterAll(async () => {
  for (const name of databases) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await admin.end()
})

const atDatabase = (name: string): string => {
  const there = new URL(url)
  there.pathname = `/${name}`
  return there.href
}

async function newDatabase(template = 'template1'): Promise<string> {
  const name = `replaced_${randomBytes(6).toString('hex')}`
  databases.push(name)
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  return name
}

/** Drops the database with all its connections, and puts the copy in its place. */
async function replace(name: string, copy: string): Promise<void> {
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await admin.query(`ALTER DATABASE ${copy} RENAME TO ${name}`)
}

/** Dropping tables in use may deadlock, so it retries. */
async function run(database: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: atDatabase(database) })
  await client.connect()
  for (let isDone = false; !isDone;) {
    isDone = await client.query(statement).then(
      () => true,
      (error: unknown) => {
        if ((error as { code?: string }).code !== '40P01') throw error
        return false
      },
    )
  }
  await client.end()
}

interface Recorded {
  readonly job: JobDefinition<unknown>
  /** The payloads that its handler ran with. */
  readonly ran: unknown[]
  /** Resolves when it has run that often. */
  readonly times: (count: number) => Promise<void>
}

function recorded(kind: string, queue: string): Recorded {
  const ran: unknown[] = []
  const waiting = new Set<() => void>()
  const job = defineJob({
    kind,
    queue,
    run({ payload }: { payload: unknown }) {
      ran.push(payload)
      for (const look of waiting) look()
    },
  })
  const times = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (ran.length >= count && resolve())
      waiting.add(look)
      look()
    })
  return { job, ran, times }
}

/** A faster clock for the wait until tables are created again. */
const hasty = { ...systemPlatform, monotonic: () => systemPlatform.monotonic() * 50 }

function millOn(
  database: string,
  jobs: readonly AnyJob[],
  {
    isHasty = false,
    ...rest
  }: { isHasty?: boolean; serve?: string[]; limits?: Readonly<Record<string, LimitOptions>> } = {},
): Mill {
  const store = postgres(atDatabase(database), isHasty ? { platform: hasty } : {})
  const mill = jobmill({ store, jobs, log: 'silent', lease: '2s', renewEvery: '500ms', ...rest })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  return mill
}

const TRIGGERS_OFF = 'SET session_replication_role = replica'

/** Not dispatched directly: a process that both enqueues and runs a job asks no table for its names. */
const CLAIMED = { delay: '1ms' } as const

/** The next warning with this code. */
function warning(code: string): Promise<Error> {
  return new Promise((resolve) => {
    const look = (error: Error & { code?: string }): void => {
      if (error.code !== code) return
      process.off('warning', look)
      resolve(error)
    }
    process.on('warning', look)
  })
}

/** Retries while the database is away; each failure must be retryable. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const { retryable, cause } = error as { retryable?: boolean; cause?: { code?: string } }
      if (retryable !== true && cause?.code !== '3D000' && cause?.code !== '57P01') throw error
    }
  }
}

describe('D2 a backup without new names is restored under a running handler', () => {
  test('P2 another process claims the job again, and the outcome of the handler is refused', async () => {
    const database = await newDatabase()
    const [instance, other] = [anInstance(), anInstance()]
    const job = aJob({ kind: 'mail', queue: 'mail' })
    const mail = { queues: [{ queue: 'mail', room: 1 }], kinds: ['mail'] }
    const open = async (): Promise<Store> => {
      const store = postgres(atDatabase(database), { notifier: false })
      await store.open()
      onTestFinished(() => store.close())
      return store
    }
    const first = await open()
    await first.enqueue([job])
    await first.instances.register(instance)
    await first.instances.register(other)
    await first.close()
    const backup = await newDatabase(database)

    const before = await open()
    const [lost] = await before.claim(aClaim(instance.id, mail))
    await replace(database, backup)
    const after = await open()
    const [lease] = await after.claim(aClaim(other.id, mail))
    expect([lost?.id, lease?.id]).toEqual([job.id, job.id])
    expect(lease?.token).toBeGreaterThan(lost?.token ?? Number.POSITIVE_INFINITY)
    const finish = {
      id: job.id,
      token: lost?.token ?? 0,
      outcome: 'returned',
      transition: { to: 'done', result: null },
    } as const
    expect(await eventually(() => before.finish([finish]))).toMatchObject([{ accepted: false }])
    expect(await after.get([job.id])).toMatchObject([{ state: 'running' }])
  })
})

describe('D2 a backup is restored under a process that only enqueues', () => {
  test('its job lands in the right queue and kind, and the right handler runs it', async () => {
    const database = await newDatabase()
    const first = millOn(database, [])
    await first.enqueue('old', 0, { queue: 'old' })
    await first.stop()
    const backup = await newDatabase(database)

    const enqueues = millOn(database, [])
    await enqueues.enqueue('young', 1, { queue: 'mail' })
    await replace(database, backup)
    // In the restored database these get the ids of the earlier names.
    const wipe = recorded('wipe', 'danger')
    const young = recorded('young', 'mail')
    const works = millOn(database, [wipe.job, young.job])
    await works.enqueue('wipe', 'wiped', { queue: 'danger' })
    await eventually(() => enqueues.enqueue('young', 2, { queue: 'mail' }))
    await works.start()
    await young.times(1)
    expect(young.ran).toEqual([2])
    expect(wipe.ran).not.toContain(2)
  })

  test('names that only the old primary had are added again', async () => {
    const database = await newDatabase()
    const first = millOn(database, [])
    await first.open()
    await first.stop()
    const standby = await newDatabase(database)

    const enqueues = millOn(database, [])
    await enqueues.enqueue('young', 1, { queue: 'mail' })
    await replace(database, standby)
    const acknowledged = []
    for (const n of [2, 3, 4])
      acknowledged.push((await eventually(() => enqueues.enqueue('young', n, { queue: 'mail' }))).id)
    const counts = await enqueues.counts()
    expect(counts.find(({ queue }) => queue === 'mail')).toMatchObject({ ready: acknowledged.length })
    const young = recorded('young', 'mail')
    const works = millOn(database, [young.job])
    await works.start()
    await young.times(3)
    expect(new Set(young.ran)).toEqual(new Set([2, 3, 4]))
  })
})

const WAYS: readonly [string, (database: string) => Promise<void>][] = [
  [
    'the schema is dropped and another process creates it again',
    async (database) => {
      await run(database, 'DROP SCHEMA jobmill CASCADE')
      const other = postgres(atDatabase(database))
      await other.open()
      await other.close()
    },
  ],
  ['the schema is dropped', (database) => run(database, 'DROP SCHEMA jobmill CASCADE')],
  [
    'all tables are truncated',
    (database) =>
      run(
        database,
        `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(format('jobmill.%I', tablename), ', ')
           FROM pg_tables WHERE schemaname = 'jobmill'); END $$`,
      ),
  ],
  ['the database is dropped and created again', async (database) => replace(database, await newDatabase())],
]

describe('D2 the database is emptied under a working mill', () => {
  test.each(WAYS)(
    '%s: jobs enqueued afterwards run, and all declarations of code exist',
    async (_, empty) => {
      const database = await newDatabase()
      const mail = recorded('mail', 'post')
      const limits = { smtp: { concurrency: 3 } }
      const works = millOn(database, [mail.job], { isHasty: true, limits })
      const enqueues = millOn(database, [], { isHasty: true })
      await works.start()
      await enqueues.enqueue('mail', 'before', { queue: 'post' })
      await mail.times(1)
      await empty(database)
      await eventually(() => enqueues.enqueue('mail', 'after', { queue: 'post' }))
      await mail.times(2)
      expect(mail.ran).toEqual(['before', 'after'])
      // Also for a process that starts now.
      const late = postgres(atDatabase(database))
      await late.open()
      expect((await late.limits.list()).map(({ name }) => name)).toEqual(['smtp'])
      expect((await late.queues.list()).map(({ name }) => name)).toEqual(['post'])
      await late.close()
    },
  )

  test('an older copy is restored: its jobs run again, and jobs enqueued afterwards run', async () => {
    const database = await newDatabase()
    const mail = recorded('mail', 'post')
    const first = millOn(database, [])
    await first.enqueue('mail', 'waits in the copy', { queue: 'post' })
    await first.stop()
    const copy = await newDatabase(database)
    const works = millOn(database, [mail.job])
    await works.start()
    await mail.times(1)
    await replace(database, copy)
    await eventually(() => works.enqueue('mail', 'after', { queue: 'post' }))
    await mail.times(3)
    expect(mail.ran.filter((payload) => payload === 'waits in the copy')).toHaveLength(2)
    expect(mail.ran).toContain('after')
  })
})

describe('H4 parts of the schema are deleted under a working mill', () => {
  const FUNCTIONS = `DO $$ DECLARE f regprocedure; BEGIN
    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'jobmill'::regnamespace LOOP
      EXECUTE 'DROP FUNCTION IF EXISTS ' || f || ' CASCADE';
    END LOOP; END $$`

  test.each([
    ['functions', FUNCTIONS, /a function is missing.*Restore the Jobmill schema/],
    ['a table', 'DROP TABLE jobmill.ready CASCADE', /a table is missing.*Restore the Jobmill schema/],
    ['all tables', 'DROP SCHEMA jobmill CASCADE', /Jobmill tables are missing.*Restore a backup/],
  ] as const)('H4 %s: every call says what is missing and how to fix it', async (_, statement, expected) => {
    const database = await newDatabase()
    const mill = millOn(database, [])
    await mill.enqueue('old', 0)
    await run(database, statement)
    const refused = await mill.enqueue('old', 1).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(expected) as string,
    })
  })

  test('H4 a table, in a user transaction: the fix says to roll back', async () => {
    const database = await newDatabase()
    const mill = millOn(database, [])
    await mill.enqueue('old', 0)
    await run(database, 'DROP TABLE jobmill.ready CASCADE')
    const tx = new pg.Client({ connectionString: atDatabase(database) })
    await tx.connect()
    onTestFinished(() => tx.end())
    await tx.query('BEGIN')
    await expect(mill.enqueue('old', 1, { tx })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      fix: expect.stringMatching(/^Roll back, then retry the transaction.*restore a backup$/) as string,
    })
  })

  test('H4 P1 a queue, with triggers off: it is restored with its id, and its jobs run', async () => {
    const database = await newDatabase()
    const gate = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const slow = defineJob({
      kind: 'slow',
      queue: 'mail',
      run: () => (began.resolve(), gate.promise),
    })
    const quick = recorded('quick', 'mail')
    const mill = millOn(database, [slow, quick.job])
    await mill.start()
    const running = await mill.enqueue(slow, null)
    await began.promise
    const warned = new Promise<Error>((resolve) => void process.once('warning', resolve))
    await run(
      database,
      `SET session_replication_role = replica; DELETE FROM jobmill.queue WHERE name = 'mail'`,
    )
    await mill.enqueue(quick.job, 1)
    // A call that reads all queues need not wait for the next comparison.
    expect((await mill.queues()).map(({ name }) => name)).toContain('mail')
    expect(await warned).toMatchObject({ code: 'QUEUES_RESTORED' })
    await quick.times(1)
    gate.resolve()
    await running.result({ timeout: '10s' })
    expect(await mill.get(running.id)).toMatchObject({ queue: 'mail', state: 'done', attempt: 1 })
  })

  test('H4 P1 a started process restores a queue on its own: no call has to read the queues', async () => {
    const database = await newDatabase()
    const mail = recorded('letter', 'mail')
    const mill = millOn(database, [mail.job], { isHasty: true })
    await mill.start()
    await (await mill.enqueue(mail.job, 1)).result({ timeout: '10s' })
    const warned = warning('QUEUES_RESTORED')
    await run(database, `${TRIGGERS_OFF}; DELETE FROM jobmill.queue WHERE name = 'mail'`)
    await mill.enqueue(mail.job, 2, CLAIMED)
    await mail.times(2)
    expect(await warned).toMatchObject({ message: expect.stringContaining('mail') as string })
    expect(await mill.count({ queue: 'mail' })).toMatchObject({ jobs: 2 })
    // Without the comparison a duty would also read the queues, a minute later.
  }, 30_000)

  test('H4 P1 a started process restores a kind on its own, and its jobs run', async () => {
    const database = await newDatabase()
    const mail = recorded('letter', 'mail')
    const mill = millOn(database, [mail.job], { isHasty: true })
    await mill.start()
    await (await mill.enqueue(mail.job, 1)).result({ timeout: '10s' })
    const warned = warning('KINDS_RESTORED')
    await run(database, `${TRIGGERS_OFF}; DELETE FROM jobmill.kind WHERE name = 'letter'`)
    await mill.enqueue(mail.job, 2, CLAIMED)
    await mail.times(2)
    expect(await warned).toMatchObject({ message: expect.stringContaining('letter') as string })
  })

  test.each([
    ['kind', `INSERT INTO jobmill.kind (name) VALUES ('letter')`],
    [
      'queue',
      `INSERT INTO jobmill.queue (name, paused, backoff_enabled, backoff_base_ms, backoff_max_ms)
       VALUES ('mail', false, true, 1, 1)`,
    ],
  ] as const)(
    'H4 P1 a %s with a changed id gets its own id again, and its jobs run',
    async (table, insert) => {
      const database = await newDatabase()
      const mail = recorded('letter', 'mail')
      const mill = millOn(database, [mail.job], { isHasty: true })
      await mill.start()
      await (await mill.enqueue(mail.job, 1)).result({ timeout: '10s' })
      const name = table === 'kind' ? 'letter' : 'mail'
      await run(database, `${TRIGGERS_OFF}; DELETE FROM jobmill.${table} WHERE name = '${name}'; ${insert}`)
      await mill.enqueue(mail.job, 2, CLAIMED)
      await mail.times(2)
      const later = await mill.enqueue(mail.job, 3, CLAIMED)
      await later.result({ timeout: '10s' })
      // A claim uses cached ids, so the jobs may run before the comparison.
      await expect
        .poll(() => mill.get(later.id), { timeout: 10_000 })
        .toMatchObject({ kind: 'letter', queue: 'mail', state: 'done' })
    },
  )

  test('H4 P1 names whose ids were exchanged get their own again, and jobs that waited run under theirs', async () => {
    const database = await newDatabase()
    const [mail, wipe] = [recorded('letter', 'mail'), recorded('wipe', 'mail')]
    const mill = millOn(database, [mail.job, wipe.job], { isHasty: true })
    await mill.start()
    for (const { job } of [mail, wipe]) await (await mill.enqueue(job, 1)).result({ timeout: '10s' })
    await mill.pause('mail')
    await mill.enqueue(mail.job, 'waited')
    const warned = warning('DATABASE_REPLACED')
    await run(
      database,
      `${TRIGGERS_OFF}; UPDATE jobmill.kind SET name = 'between' WHERE name = 'letter';
       UPDATE jobmill.kind SET name = 'letter' WHERE name = 'wipe'; UPDATE jobmill.kind SET name = 'wipe' WHERE name = 'between'`,
    )
    await warned
    await eventually(() => mill.resume('mail'))
    await (await eventually(() => mill.enqueue(mail.job, 2))).result({ timeout: '10s' })
    expect(mail.ran).toEqual([1, 'waited', 2])
    expect(wipe.ran).toEqual([1])
  })
})
