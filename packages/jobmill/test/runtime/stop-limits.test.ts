/** A stop takes at most the grace period plus 5 s, whatever the database does, on a fake clock. */
import { EventEmitter } from 'node:events'
import Database from 'better-sqlite3'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { deregister } from '../../../../test/support/programs/deregister.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import { silentProxy } from '../../../../test/support/silent-proxy.ts'
import { defineJob, jobmill, stopOnSignals, type FullStore } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { faultyStore, testPlatform } from '../../src/testing/index.ts'
import { places } from './places.ts'

/** A handler that ends when the test says so. */
function gated() {
  const entered = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const job = defineJob({
    kind: 'gated',
    run() {
      entered.resolve()
      return gate.promise
    },
  })
  return { job, entered: entered.promise, open: () => gate.resolve() }
}

/** Every write that a stop makes. */
const LAST_WRITES = ['finish', 'instances.deregister', 'metrics.record', 'close'] as const

describe.each(places)('the time limit of a stop on $name', ({ name, create }) => {
  const test = inTurns(name, places)

  async function hangingMill() {
    const at = create()
    const { job, entered, open } = gated()
    const platform = testPlatform()
    const store = faultyStore(at.store(platform))
    const mill = jobmill({ store: platform.track(store), platform, jobs: [job], log: 'silent' })
    onTestFinished(async () => {
      store.clear()
      await deregister(at.store(platform))
    })
    await mill.start()
    await mill.enqueue(job, null)
    await entered
    await platform.settled()
    for (const verb of LAST_WRITES) store.hold(verb)
    const before = store.calls()
    const calls = (): string[] => LAST_WRITES.filter((verb) => store.calls(verb) > before[verb])
    return { mill, platform, open, calls }
  }

  test('P6 D9 all last writes together take at most 5 s, and each is tried', async () => {
    const { mill, platform, calls } = await hangingMill()
    const stopping = mill.stop({ grace: '2s' })
    await platform.advance('1m')
    // The handler never ends: 2 s of grace, then half a second to unwind and 4.5 s to write.
    expect(await stopping).toMatchObject({ tookMs: 7_000, interrupted: 1 })
    expect(calls()).toEqual(LAST_WRITES)
    expect(platform.pendingTimers).toBe(0)
  })

  test('P6 D9 a second stop skips the remaining last writes', async () => {
    const { mill, platform, open, calls } = await hangingMill()
    open()
    const stopping = mill.stop()
    await platform.advance('1s')
    void mill.stop({ grace: '1s' })
    await platform.advance('1s')
    expect(calls()).toEqual(['finish'])
    void mill.stop({ grace: 0 })
    await platform.settled()
    // A stop that still waits for its writes would end later, not never.
    await platform.advance('1m')
    expect((await stopping).tookMs).toBe(2_000)
    expect(calls()).toEqual(LAST_WRITES)
  })

  test('P6 D9 the time of beforeClose does not reduce that of the last writes', async () => {
    const { mill, platform, open } = await hangingMill()
    open()
    const closed = Promise.withResolvers<void>()
    const stopping = mill.stop({ beforeClose: () => closed.promise })
    await platform.advance('1m')
    closed.resolve()
    expect((await stopping).tookMs).toBe(60_000)
  })
})

/** Stops a mill whose handler ends after the database stopped answering. Returns how long the stop took. */
async function tookMs(store: FullStore, platform: ReturnType<typeof testPlatform>, breakStore: () => void) {
  const { job, entered, open } = gated()
  const mill = jobmill({ store, platform, jobs: [job], log: 'silent' })
  await mill.start()
  await mill.enqueue(job, null)
  await entered
  breakStore()
  open()
  const stopping = mill.stop({ grace: '1s' })
  await platform.advance('1m')
  return (await stopping).tookMs
}

describe('a stop while the database does not answer', () => {
  test('P6 D9 takes at most 5 s on a silent PostgreSQL server', async () => {
    const platform = testPlatform()
    const url = new URL(inject('keptPostgresUrl'))
    const schema = recycledSchema(String(url), 'runtime')
    const { port, goSilent } = await silentProxy(Number(url.port))
    url.port = String(port)
    const store = postgres(String(url), { schema, clock: platform.now })
    onTestFinished(() => deregister(postgres(inject('keptPostgresUrl'), { schema })))
    expect(await tookMs(store, platform, goSilent)).toBe(5_000)
  })

  test('P6 D9 leaves no statement on a silent PostgreSQL server that would keep the process alive', async () => {
    const platform = testPlatform()
    const url = new URL(inject('keptPostgresUrl'))
    const schema = recycledSchema(String(url), 'runtime')
    const { port, goSilent } = await silentProxy(Number(url.port))
    url.port = String(port)
    const store = postgres(String(url), { schema, platform, notifier: false })
    await store.open()
    goSilent()
    const code = store.counts().then(
      () => 'answered',
      (error: unknown) => (error as { readonly code: string }).code,
    )
    const closing = store.close()
    // Less than the deadline of the statement.
    await platform.advance('10s')
    await closing
    expect(await code).toBe('OUTCOME_UNKNOWN')
  })

  test('P6 D9 takes at most 5 s on a SQLite file that another process locks', async () => {
    const platform = testPlatform()
    const path = freshFile()
    const lock = (): void => {
      const other = new Database(path)
      other.exec('BEGIN EXCLUSIVE')
      onTestFinished(async () => {
        other.close()
        await deregister(sqlite(path))
      })
    }
    expect(await tookMs(sqlite(path, { clock: platform.now }), platform, lock)).toBe(5_000)
  })
})

test('A stopOnSignals refuses an unknown option', () => {
  expect(() => stopOnSignals({ stop: async () => {} }, { beforClose: async () => {} } as never)).toThrow(
    /^options\.beforClose: .*beforeClose/,
  )
})

test('P6 D9 a second signal ends a stop that waits for something else than the mill', async () => {
  const target = Object.assign(new EventEmitter(), { pid: 0, kill: () => true })
  const calls: unknown[] = []
  const signal = await new Promise((stopped) => {
    stopOnSignals(
      {
        stop(options) {
          calls.push(Object.keys(options))
          return new Promise(() => {})
        },
      },
      { stopped, process: target as unknown as NodeJS.Process },
    )
    target.emit('SIGTERM', 'SIGTERM')
    target.emit('SIGINT', 'SIGINT')
  })
  expect([signal, calls]).toEqual(['SIGINT', [['beforeClose'], ['grace']]])
  expect(target.eventNames()).toEqual([])
})
