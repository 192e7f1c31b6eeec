/** Retention, jobs of removed bots, and an unreachable database. */
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, test } from 'vitest'
import { openTables } from 'jobmill-tables'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { startedReplies } from '../src/sessions/started-replies.ts'
import { type Schema, STEPS } from '../src/sessions/steps.ts'
import { upkeepDuty } from '../src/upkeep.ts'
import { anUpdate, freshDatabase, saidBy, scene, type Scene, STORES } from './support/scene.ts'

const ECHO = { handler: 'echo', async: true, requireAuth: false }

describe.each(STORES)('upkeep on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  afterEach(() => at.stop())

  test('E13 E25 with a retention of 0 an answered message leaves no data, and repeats are still recognized', async () => {
    at = await scene({ store, bots: { echo: ECHO }, env: { QUEUE_DONE_RETENTION: '0s' } })
    const chat = at.chat('echo')
    const update = anUpdate('private', { userId: chat.id })
    await at.post('echo', update)
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    await expect.poll(async () => (await at.gateway.mill.list({})).jobs.length).toBe(0)
    expect(await (await at.post('echo', update)).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(saidBy(chat)).toEqual(['private'])
  })

  test.runIf(store === 'sqlite')('the file of a gateway is readable only by its owner', async () => {
    at = await scene({ store, bots: { echo: ECHO } })
    for (const end of ['', '-wal', '-shm'])
      expect([end, statSync(`${at.database}${end}`).mode & 0o777]).toEqual([end, 0o600])
  })

  test('A11 retention deletes done jobs and keeps dead ones', async () => {
    at = await scene({
      store,
      handlers: { poison: () => Promise.reject(new Error('always')) },
      bots: {
        echo: ECHO,
        poison: {
          handler: 'poison',
          async: true,
          requireAuth: false,
          retry: { attempts: 1 },
          deadNotice: false,
        },
      },
      env: { QUEUE_DONE_RETENTION: '1ms' },
    })
    const mill = at.gateway.mill
    await at.post('poison', anUpdate('x'))
    await at.post('echo', { update_id: 1, poll: {} })
    await expect.poll(async () => (await mill.list({ state: 'dead' })).jobs.length).toBe(1)
    await expect
      .poll(async () => {
        await mill.retain()
        return (await mill.list({})).jobs.map(({ kind }) => kind.split('.')[1])
      })
      .toEqual(['poison'])
  })

  test('A11 QUEUE_DEAD_RETENTION reaches the queues, and dead jobs are deleted after it', async () => {
    let runs = 0
    at = await scene({
      store,
      handlers: {
        poison() {
          runs += 1
          throw new Error('always')
        },
      },
      bots: { poison: { ...ECHO, handler: 'poison', retry: { attempts: 1 }, deadNotice: false } },
      env: { QUEUE_DEAD_RETENTION: '1ms', QUEUE_DONE_RETENTION: 'forever' },
    })
    const { mill } = at.gateway
    const queues = (await mill.queues()).filter(({ name }) => name.startsWith('telegram.'))
    expect(queues.map(({ retainDeadMs, retainDoneMs }) => [retainDeadMs, retainDoneMs])).toEqual([
      [1, null],
      [1, null],
    ])
    await at.post('poison', anUpdate('x'))
    await expect
      .poll(async () => {
        await mill.retain()
        const { jobs } = await mill.list({ queue: 'telegram.poison' })
        return [runs, jobs.filter(({ kind }) => kind.endsWith('.poison')).length]
      })
      .toEqual([1, 0])
  })

  test('A11 config changes apply from the next start, and operator overrides stay', async () => {
    const queue = async () => (await at.gateway.mill.queues())?.find(({ name }) => name === 'telegram.echo')
    at = await scene({ store, bots: { echo: ECHO } })
    await at.gateway.mill.changeQueue('telegram.echo', { workers: 4, retain: { dead: '9d' } })
    const { database } = at
    const again = async (bot: object, env: Record<string, string>) => {
      await at.stop()
      at = await scene({ store, database, bots: { echo: { ...ECHO, ...bot } }, env })
    }
    await again({}, { QUEUE_DONE_RETENTION: '1h' })
    expect(await queue()).toMatchObject({ workers: 4, retainDoneMs: 3_600_000, retainDeadMs: 777_600_000 })
    await again({ concurrency: 3 }, { QUEUE_DONE_RETENTION: '1h' })
    expect(await queue()).toMatchObject({ workers: 4, retainDoneMs: 3_600_000, retainDeadMs: 777_600_000 })
    await at.gateway.mill.resetOverrides({ what: 'queue', name: 'telegram.echo', option: 'workers' })
    expect(await queue()).toMatchObject({ workers: 3, retainDeadMs: 777_600_000 })
  })

  test.nightly('A4 QUEUE_JANITOR_INTERVAL sets how often cleanup runs', async () => {
    const env = { QUEUE_DONE_RETENTION: '1ms', QUEUE_JANITOR_INTERVAL: '1s' }
    at = await scene({ store, bots: { echo: ECHO }, env })
    // The first one may be deleted by the pass at the start.
    for (const updateId of [1, 2]) {
      await at.post('echo', { update_id: updateId, poll: {} })
      await expect.poll(async () => (await at.gateway.mill.list({})).jobs.length).toBe(0)
    }
  })

  test('A a job whose bot or handler was removed from the config has no worker', async () => {
    const gate = Promise.withResolvers<void>()
    at = await scene({
      store,
      handlers: { held: () => gate.promise },
      bots: { old: { handler: 'held', async: true, requireAuth: false }, echo: ECHO },
    })
    await at.gateway.mill.pause('telegram.old')
    await at.post('old', anUpdate('waits'))
    const { database, fake, stop } = at
    await at.gateway.stop()
    const warned: string[] = []
    const log = { debug() {}, info() {}, warn: (line: string) => void warned.push(line), error() {} }
    at = {
      ...(await scene({ store, database, telegram: fake, log, bots: { old: ECHO }, ids: { old: 7_000 } })),
      stop,
    }
    expect(warned).toContainEqual(
      expect.stringMatching(/telegram\.old\.7000\.held, jobs 1, fix restore the bot/),
    )
    await at.gateway.mill.resume('telegram.old')
    await expect
      .poll(async () => (await at.gateway.mill.unservedKinds())?.map(({ kind }) => kind))
      .toEqual(['telegram.old.7000.held'])
    const { gateway } = at
    at = { ...at, stop: async () => (await gateway.stop(), fake.close()) }
    gate.resolve()
  })
})

test.each(STORES)('all expired rows are deleted in batches, and renewed rows stay (%s)', async (store) => {
  const { tables, store: jobs } = await openTables<Schema>(freshDatabase(store), {
    app: 'telegram',
    steps: STEPS,
  })
  await tables.open()
  const day = 86_400_000
  const later = Date.now() + day
  const many = Array.from({ length: 1_201 }, (_, n) => n + 1)
  const over = (n: number) => (n === 1 ? later : 1)
  for (const part of [many.slice(0, 600), many.slice(600)]) {
    const sessions = part.map((n) => ({ user_id: n, scope: '*', begun_at: 1, expires_at: over(n) }))
    await tables.db.insertInto('telegram_session').values(sessions).execute()
    const unused = { created_at: 1, user_id: null, used_at: null, used_by: null, used_key: null }
    const codes = part.map((n) => ({ ...unused, hash: String(n), scope: '*', expires_at: over(n) }))
    await tables.db.insertInto('telegram_code').values(codes).execute()
    await tables.db
      .insertInto('telegram_try')
      .values(part.map((n) => ({ key: String(n), at: over(n) })))
      .execute()
    const wrong = part.map((n) => ({ user_id: n, tries: 1, since: 1, locked_until: over(n) }))
    await tables.db.insertInto('telegram_wrong').values(wrong).execute()
  }
  const duty = upkeepDuty({ tables, replies: startedReplies(tables, jobs) }, day)
  expect(await duty.run({} as never)).toMatchObject({ sessions: 1_200, codes: 1_200 })
  for (const name of ['telegram_session', 'telegram_code', 'telegram_try', 'telegram_wrong'] as const)
    expect([name, (await tables.db.selectFrom(name).selectAll().execute()).length]).toEqual([name, 1])
  await tables.close()
})

test('E22 E30 P16 on postgres an update that cannot be stored, or whose sender cannot be known, is answered with 503 and accepted when the database is back', async () => {
  const server = await startPostgres({ binaries: 'current' })
  const at = await scene({
    store: 'postgres',
    database: server.url,
    bots: { echo: ECHO, gated: { handler: 'echo', async: true }, door: { handler: 'auth' } },
  })
  try {
    await server.shutDown()
    for (const slug of ['echo', 'gated']) {
      const answer = await at.post(slug, anUpdate('lost?'))
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    }
    // Its code is deleted, although no job does it.
    expect((await at.post('door', anUpdate('/auth lost?'))).status).toBe(503)
    expect(at.fake.calls.filter(({ method }) => method === 'deleteMessage')).toHaveLength(1)
    expect((await fetch(`${at.gateway.url}/readyz`)).status).toBe(503)
    expect((await fetch(`${at.gateway.url}/healthz`)).status).toBe(200)
    await server.restart()
    const chat = at.chat('echo')
    chat.says('back')
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual(['back'])
  } finally {
    await at.stop()
    await server.stop()
  }
})

test('E22 E30 P16 on sqlite an update that cannot be stored, or whose sender cannot be known, is answered with 503 and accepted when the file is writable again', async () => {
  const bots = { echo: ECHO, gated: { handler: 'echo', async: true }, direct: { ...ECHO, async: false } }
  const at = await scene({ store: 'sqlite', bots })
  const file = new Database(at.database)
  try {
    // Simulates a full disk: existing data stays readable.
    file.exec(`
      CREATE TRIGGER full BEFORE INSERT ON jobmill_job BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END;
      ALTER TABLE telegram_session RENAME TO away;`)
    const lost = anUpdate('lost?')
    for (const slug of Object.keys(bots)) {
      const answer = await at.post(slug, lost)
      expect([slug, answer.status]).toEqual([slug, 503])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    file.exec('DROP TRIGGER full; ALTER TABLE away RENAME TO telegram_session')
    for (const slug of ['echo', 'direct']) {
      const chat = at.chat(slug)
      await at.post(slug, { ...anUpdate('lost?', { userId: chat.id }), update_id: lost.update_id })
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
      expect(saidBy(chat)).toEqual(['lost?'])
    }
    expect(await (await at.post('gated', lost)).json()).toEqual({ ok: true, result: 'prompted' })
  } finally {
    file.close()
    await at.stop()
  }
})
