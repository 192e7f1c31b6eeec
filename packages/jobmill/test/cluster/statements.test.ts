// The cost of a mill, counted at the database: every statement in the log of the server.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../../test/support/postgres/postgres-server.ts'
import { defineJob } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { testMill } from '../../src/testing/index.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ binaries: 'current', settings: { log_statement: 'all' } })
}, 60_000)
afterAll(() => server.stop())

/** `execute` for the extended protocol, `statement` for the simple one. */
function logged(): string[] {
  return readFileSync(server.log, 'utf8').match(/LOG: {2}(?:execute|statement)[^\n]*/g) ?? []
}

const quick = defineJob({ kind: 'quick', run: () => null })

describe('statements on postgres', () => {
  test('P15 target 6: an idle instance with 20 queues, 100 workers and a limit sends at most 1 per second', async () => {
    const queues = Array.from({ length: 20 }, (_, n) => `queue-${n}`)
    await using mill = await testMill({
      jobs: [quick],
      serve: queues,
      queues: Object.fromEntries(queues.map((name) => [name, { workers: 5 }])),
      limits: { smtp: { rate: 5 } },
      store: (platform) => postgres(server.url, { schema: 'idle', clock: platform.now }),
    })
    // A deferred job, so that not everything is empty. Unlike the clock of the mill, that of the platform
    // passes no heartbeat.
    await mill.enqueue(quick, null, { queue: 'queue-1', delay: '1d' })
    await mill.clock.advance('30s')
    const before = logged().length
    await mill.platform.advance('120s')
    const sent = logged().slice(before)
    expect(sent.length / 120).toBeLessThanOrEqual(1)
    // It is alive, and leads every duty.
    expect(sent.filter((line) => line.includes('.heartbeat(')).length).toBeGreaterThan(40)
    expect(
      (await mill.duties()).filter(({ leader }) => leader === mill.instance.id).length,
    ).toBeGreaterThanOrEqual(4)
  }, 60_000)

  test('P15 a quiet instance reads requests with its heartbeat: no other statement, at most 1 per second', async () => {
    await using mill = await testMill({
      jobs: [quick],
      store: (platform) => postgres(server.url, { schema: 'quiet', clock: platform.now }),
    })
    const { id } = mill.instance
    await mill.quietInstance(id)
    await mill.clock.advance('30s')
    const before = logged().length
    await mill.platform.advance('120s')
    const idle = logged().slice(before)
    expect(idle.length / 120).toBeLessThanOrEqual(1)
    expect(idle.filter((line) => line.includes('.heartbeat(')).length).toBeGreaterThan(40)
    // A ready job makes no difference: a claim could not get it.
    await mill.enqueue(quick, null)
    await mill.clock.advance('30s')
    expect(
      logged()
        .slice(before)
        .filter((line) => line.includes('.claim(')),
    ).toEqual([])
    await mill.resumeInstance(id)
    await mill.clock.advance('5s')
    expect((await mill.counts())[0]).toMatchObject({ done: 1 })
  }, 60_000)

  test('P15 with 1,000 ready jobs a job costs at most a tenth of a statement, with default settings', async () => {
    const jobs = 1_000
    await using mill = await testMill({
      jobs: [quick],
      queues: { default: { paused: true } },
      store: (platform) => postgres(server.url, { schema: 'waiting', clock: platform.now }),
    })
    await mill.enqueueMany(
      quick,
      Array.from({ length: jobs }, () => ({ payload: null })),
    )
    const before = logged().length
    await mill.resume('default')
    await mill.drain()
    const sent = logged().slice(before)
    expect((await mill.counts())[0]).toMatchObject({ done: jobs })
    expect(sent.length / jobs).toBeLessThanOrEqual(0.1)
    // The log contains the statements of a mill.
    expect(sent.filter((line) => line.includes('.claim(')).length).toBeGreaterThanOrEqual(2)
  }, 60_000)

  test('P15 a job for a free worker of the enqueuing process costs two: its insert and its outcome', async () => {
    const jobs = 50
    await using mill = await testMill({
      jobs: [quick],
      store: (platform) => postgres(server.url, { schema: 'handed', clock: platform.now, notifier: false }),
    })
    await mill.platform.settled()
    const before = logged().length
    for (let at = 0; at < jobs; at += 1) {
      await mill.enqueue(quick, null)
      await mill.platform.settled()
    }
    expect((await mill.counts())[0]).toMatchObject({ done: jobs })
    expect(logged().length - before).toBeLessThanOrEqual(2 * jobs + 5)
  }, 60_000)

  test('P15 target 6: under load a job costs at most one statement, enqueue included', async () => {
    const jobs = 5_000
    await using mill = await testMill({
      jobs: [quick],
      queues: { default: { workers: 100 } },
      store: (platform) => postgres(server.url, { schema: 'busy', clock: platform.now }),
    })
    const before = logged().length
    const items = Array.from({ length: 500 }, () => ({ payload: null }))
    for (let sent = 0; sent < jobs; sent += items.length) await mill.enqueueMany(quick, items)
    await mill.drain()
    expect((await mill.counts())[0]).toMatchObject({ done: jobs })
    expect((logged().length - before) / jobs).toBeLessThanOrEqual(1)
  }, 60_000)
})
