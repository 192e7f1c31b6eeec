// The duty that runs schedules: until nothing is due, each tick once, and a failing schedule stops no other.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { ScheduleDefinition } from '../../src/job/schedule/schedule.ts'
import { faultyStore, testClock, testPlatform } from '../../src/testing/index.ts'
import { oracle, oracleDatabase } from '../../../conformance/src/index.ts'
import { type ServeOptions, serveSchedules } from '../../src/upkeep/schedule.ts'
import { aSchedule, at } from './schedule-bench.ts'

const HOUR = 3_600_000

async function bench() {
  const clock = testClock(at('2026-02-01T00:30:00Z'))
  const store = faultyStore(oracle(oracleDatabase(), { clock: clock.now }))
  await store.open()
  const stop = new AbortController()
  const events: unknown[] = []
  const emit = (type: string, event: object): void => void events.push({ type, ...event })
  const serve = (through: ServeOptions['store'] = store) =>
    serveSchedules({ store: through, platform: testPlatform(), signal: stop.signal, emit })
  const declare = (name: string, live: Partial<ScheduleDefinition> = {}) =>
    store.schedules.declare([{ name, version: 1, definition: aSchedule(live) }])
  const read = async (name: string) => (await store.schedules.list()).find((one) => one.name === name)
  const served = async (name: string): Promise<string[]> =>
    (await store.schedules.ticks(name, 500)).map((tick) => new Date(tick.at).toISOString()).toReversed()
  return { clock, store, stop, events, serve, declare, read, served }
}

const NOTHING = { fired: 0, skipped: 0, missed: 0, failed: 0, queues: [] }

describe('serving schedules', () => {
  test('plans a new schedule, and serves it when it is due', async () => {
    const { clock, serve, declare, served, events, store } = await bench()
    await declare('hourly', { queue: 'q' })
    expect(await serve()).toEqual(NOTHING)
    clock.advance(HOUR / 2)
    expect(await serve()).toEqual({ ...NOTHING, fired: 1, queues: ['q'] })
    expect(await served('hourly')).toEqual(['2026-02-01T01:00:00.000Z'])
    const [job] = (await store.list({}, { limit: 9 })).jobs
    const plannedAt = Date.parse('2026-02-01T01:00:00.000Z')
    expect(events).toEqual([
      { type: 'schedule-fired', schedule: 'hourly', plannedAt, id: job?.id, outcome: 'enqueued' },
      { type: 'enqueued', id: job?.id, kind: 'work', queue: 'q', outcome: 'enqueued' },
    ])
    expect(await serve()).toEqual(NOTHING)
  })

  test('writes nothing without schedules or due ticks', async () => {
    const { serve, declare, store } = await bench()
    expect(await serve()).toEqual(NOTHING)
    await declare('hourly')
    await serve()
    const before = store.calls('schedules.tick')
    await serve()
    expect([store.calls('schedules.tick'), store.calls('schedules.failed')]).toEqual([before, 0])
  })

  test('continues until nothing is due', async () => {
    const { clock, serve, declare, served } = await bench()
    await declare('minutes', { when: '* * * * *', missed: 'all' })
    clock.advance(4 * HOUR + 30_000)
    expect(await serve()).toMatchObject({ fired: 240 })
    expect(await served('minutes')).toHaveLength(240)
  })

  test('in two processes at once serves each tick once', async () => {
    const { clock, serve, declare, served } = await bench()
    await Promise.all(['a', 'b', 'c'].map((name) => declare(name, { when: '* * * * *', missed: 'all' })))
    clock.advance(HOUR)
    const counts = await Promise.all([serve(), serve(), serve()])
    expect(counts.reduce((sum, { fired }) => sum + fired, 0)).toBe(3 * 60)
    expect(await served('b')).toHaveLength(60)
  })

  test('reports a skipped tick, with the job that blocked it', async () => {
    const { clock, serve, declare, events, read } = await bench()
    await declare('quarantined', { overlap: 'skip' })
    await serve()
    clock.advance(HOUR)
    expect(await serve()).toMatchObject({ fired: 1 })
    const first = (await read('quarantined'))?.lastJob
    clock.advance(HOUR)
    expect(await serve()).toEqual({ ...NOTHING, skipped: 1 })
    expect(events.at(-1)).toEqual({ type: 'duplicate', id: first, kind: 'work', queue: 'default' })
    expect(await read('quarantined')).toMatchObject({ lastOutcome: 'skipped', lastJob: first })
  })

  test('reports missed ticks', async () => {
    const { clock, serve, declare } = await bench()
    await declare('hourly')
    await serve()
    clock.advance(5 * HOUR)
    expect(await serve()).toMatchObject({ fired: 1, missed: 4 })
  })

  test('sends small ticks together, in bounded batches', async () => {
    const { clock, serve, declare, store } = await bench()
    for (let n = 0; n < 250; n += 1) await declare(`s${n}`)
    await declare('quarantined', { overlap: 'skip' })
    expect(await serve()).toEqual(NOTHING)
    expect(store.calls('schedules.tick')).toBe(4)
    clock.advance(HOUR)
    expect(await serve()).toMatchObject({ fired: 251 })
    expect(store.calls('schedules.tick')).toBe(8)
  })

  test('ends when its signal fires', async () => {
    const { clock, serve, declare, store, stop } = await bench()
    await declare('minutes', { when: '* * * * *', missed: 'all' })
    await serve()
    clock.advance(10 * HOUR)
    const held = store.hold('schedules.tick')
    const serving = serve()
    await held.reached
    stop.abort()
    held.release()
    expect(await serving).toMatchObject({ fired: 100 })
  })
})

describe('a schedule that cannot be served', () => {
  test('is reported once, blocks no other, and stays unchanged', async () => {
    const { clock, serve, declare, read, store } = await bench()
    await declare('broken', { when: 'whenever' })
    await declare('hourly')
    expect(await serve()).toMatchObject({ failed: 1 })
    clock.advance(HOUR)
    expect(await serve()).toMatchObject({ fired: 1, failed: 1 })
    expect(store.calls('schedules.failed')).toBe(1)
    expect(await read('broken')).toMatchObject({
      error: expect.stringContaining('has 1 field instead of 5 or 6, at character 9') as string,
      live: { paused: false },
    })
    await store.schedules.change('broken', { when: '0 * * * *' })
    clock.advance(HOUR)
    expect(await serve()).toMatchObject({ fired: 1, failed: 0 })
    clock.advance(HOUR)
    expect(await serve()).toMatchObject({ fired: 2 })
    expect(await read('broken')).toMatchObject({ error: null })
  })

  test('temporarily is served by the next pass: no error disables it', async () => {
    const { clock, serve, declare, read, served, store } = await bench()
    await declare('hourly')
    await serve()
    clock.advance(HOUR)
    store.fail('schedules.tick', { error: new JobmillError('STORE_BUSY', 'is locked') })
    expect(await serve()).toEqual({ ...NOTHING, failed: 1 })
    expect(await read('hourly')).toMatchObject({ error: expect.stringContaining('is locked') as string })
    expect(await serve()).toMatchObject({ fired: 1, failed: 0 })
    expect(await read('hourly')).toMatchObject({ error: null })
    expect(await served('hourly')).toEqual(['2026-02-01T01:00:00.000Z'])
  })

  test('is found among those that were sent together', async () => {
    const { clock, serve, declare, read, store } = await bench()
    for (const name of ['a', 'bad', 'c']) await declare(name)
    await serve()
    clock.advance(HOUR)
    const picky: ServeOptions['store'] = {
      schedules: {
        ...store.schedules,
        list: () => store.schedules.list(),
        failed: (name, error) => store.schedules.failed(name, error),
        async tick(ticks) {
          if (ticks.some(({ schedule }) => schedule === 'bad')) throw new Error('no room for this one')
          return store.schedules.tick(ticks)
        },
      },
    }
    expect(await serve(picky)).toMatchObject({ fired: 2, failed: 1 })
    expect(await read('bad')).toMatchObject({ error: 'Error: no room for this one' })
    expect(await read('a')).toMatchObject({ error: null })
  })

  test('because of a lost reply is read again, and no failure is reported', async () => {
    const { clock, serve, declare, read, served, store } = await bench()
    await declare('hourly', { queue: 'q' })
    await serve()
    clock.advance(HOUR)
    store.loseReply('schedules.tick')
    expect(await serve()).toEqual({ ...NOTHING, queues: ['q'] })
    expect(await served('hourly')).toHaveLength(1)
    expect(await read('hourly')).toMatchObject({ error: null })
    expect(await serve()).toEqual(NOTHING)
  })

  test('because of repeated lost replies is reported, and retried by the next pass', async () => {
    const { clock, serve, declare, read, served, store } = await bench()
    await declare('minutes', { when: '* * * * *', missed: 'all' })
    await serve()
    clock.advance(4 * HOUR)
    store.loseReply('schedules.tick', { times: 2 })
    expect(await serve()).toMatchObject({ failed: 1 })
    expect(await read('minutes')).toMatchObject({
      error: expect.stringContaining('injected fault: the reply') as string,
    })
    await serve()
    expect(await served('minutes')).toHaveLength(240)
    expect(await read('minutes')).toMatchObject({ error: null })
  })

  test('is reported as working again when there is nothing left to do', async () => {
    const { serve, declare, read, store } = await bench()
    await declare('hourly')
    await serve()
    await store.schedules.failed('hourly', 'its answer was lost')
    await serve()
    expect(await read('hourly')).toMatchObject({ error: null })
  })
})

describe('a store that cannot be reached', () => {
  test.each(['schedules.list', 'schedules.failed'] as const)('rejects the call: %s', async (verb) => {
    const { serve, declare, store } = await bench()
    await declare('broken', { when: 'whenever' })
    store.fail(verb)
    await expect(serve()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await serve()
  })
})
