// The fake clock: it only moves on request, from timer to timer, and waits for the work that each timer
// starts.
import { describe, expect, test, vi } from 'vitest'
import { faultyStore, testPlatform } from '../../src/testing/index.ts'
import { aJob } from '../../../conformance/src/index.ts'
import { inFlight } from '../../src/testing/kit/in-flight.ts'
import { refusal, rejection } from '../unit/support.ts'
import { openStore, turns } from './support.ts'

function draw(seed: number): number[] {
  const platform = testPlatform({ seed })
  return Array.from({ length: 1_000 }, () => platform.random())
}

describe('the test clock', () => {
  test('moves only when it is advanced, by exactly that time', async () => {
    const platform = testPlatform({ startAt: '2027-01-31T09:00:00Z' })
    const startedAt = Date.parse('2027-01-31T09:00:00Z')
    await turns(3)
    expect([platform.now(), platform.monotonic()]).toEqual([startedAt, 0])
    await platform.advance('1h30m')
    expect([platform.now(), platform.monotonic()]).toEqual([startedAt + 5_400_000, 5_400_000])
  })

  test('starts far from any real clock, or at the given instant', () => {
    expect(testPlatform().now()).toBe(1_000_000_000_000)
    expect(testPlatform({ startAt: new Date(2_000_000_000_000) }).now()).toBe(2_000_000_000_000)
  })

  test('refuses invalid instants, seeds, options and durations', async () => {
    expect(refusal(() => testPlatform({ startAt: 'noon' })).field).toBe('options.startAt')
    expect(refusal(() => testPlatform({ seed: 0.5 })).field).toBe('options.seed')
    expect(refusal(() => testPlatform({ sead: 1 } as object)).message).toContain('Did you mean "seed"?')
    expect((await rejection(() => testPlatform().advance(-1))).code).toBe('DURATION_INVALID')
  })

  test('generates the same random numbers from the same seed', () => {
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
    expect(draw(7).every((one) => one >= 0 && one < 1)).toBe(true)
    const mean = draw(7).reduce((sum, one) => sum + one, 0) / 1_000
    expect(mean).toBeGreaterThan(0.45)
    expect(mean).toBeLessThan(0.55)
  })

  test('generates rising ids', () => {
    const platform = testPlatform()
    const ids = Array.from({ length: 100 }, () => platform.id())
    expect(new Set(ids).size).toBe(100)
    expect(ids.toSorted()).toEqual(ids)
  })
})

describe('timers', () => {
  test('fire in order of their time and then of their creation, each at its own time', async () => {
    const platform = testPlatform()
    const fired: string[] = []
    const note = (name: string) => () => void fired.push(`${name} at ${platform.monotonic()}`)
    platform.timer(30, note('c'))
    platform.timer(10, note('a'))
    platform.timer(30, note('d'))
    platform.timer(20.2, note('b'))
    platform.timer(31, note('late'))
    await platform.advance(30)
    expect(fired).toEqual(['a at 10', 'b at 21', 'c at 30', 'd at 30'])
    expect(platform.pendingTimers).toBe(1)
  })

  test('that are set while the clock moves fire in the same move if due by then', async () => {
    const platform = testPlatform()
    const fired: number[] = []
    const again = (): void => {
      fired.push(platform.monotonic())
      platform.timer(10, again)
    }
    platform.timer(10, again)
    await platform.advance(45)
    expect(fired).toEqual([10, 20, 30, 40])
  })

  test('that were cancelled do not fire and are not counted', async () => {
    const platform = testPlatform()
    const task = vi.fn<() => void>()
    const timers = [platform.timer(10, task), platform.timer(20, task)]
    expect(platform.pendingTimers).toBe(2)
    for (const timer of timers) timer.cancel()
    timers[0]?.cancel()
    expect(platform.pendingTimers).toBe(0)
    await platform.advance('1d')
    expect(task).not.toHaveBeenCalled()
  })

  test('of 0 ms fire on their own, all others only when the clock moves', async () => {
    const platform = testPlatform()
    const fired: string[] = []
    platform.timer(0, () => fired.push('at once'))
    platform.timer(1, () => fired.push('later'))
    await platform.settled()
    expect(fired).toEqual(['at once'])
    await platform.advance(1)
    expect(fired).toEqual(['at once', 'later'])
  })

  test('can be advanced to one by one, however far', async () => {
    const platform = testPlatform()
    platform.timer(86_400_000, () => {})
    expect(await platform.advanceToNextTimer()).toBe(true)
    expect(platform.monotonic()).toBe(86_400_000)
    expect(await platform.advanceToNextTimer()).toBe(false)
  })
})

describe('settling', () => {
  test('work that a timer started ends before the next timer fires', async () => {
    const platform = testPlatform()
    const store = platform.track(await openStore(platform))
    const happened: string[] = []
    platform.timer(10, () => {
      void store
        .enqueue([aJob()])
        .then(() => store.counts())
        .then(([count]) => happened.push(`${count?.ready} ready at ${platform.monotonic()}`))
    })
    platform.timer(11, () => happened.push('next timer'))
    await platform.advance(20)
    expect(happened).toEqual(['1 ready at 10', 'next timer'])
  })

  test('waits for calls however long they take, without polling', async () => {
    const flight = inFlight()
    const answer = Promise.withResolvers<never[]>()
    const store = flight.track({ ...(await openStore(testPlatform())), counts: () => answer.promise })
    void store.counts()
    // It is called once per turn.
    const isQuiet = vi.fn<() => boolean>(() => true)
    const settling = flight.settled(isQuiet)
    await turns(100)
    expect(isQuiet).not.toHaveBeenCalled()
    answer.resolve([])
    await settling
    expect(isQuiet).toHaveBeenCalled()
  })

  test('waits for tasks of the next event loop turn, and for calls that fail', async () => {
    const platform = testPlatform()
    const store = platform.track(await openStore(platform))
    const happened: string[] = []
    platform.nextTurn(() => platform.nextTurn(() => happened.push('turn')))
    store.queues.change('none', { settings: {}, coolMs: null }).catch(() => happened.push('refused'))
    await platform.settled()
    expect(happened.toSorted()).toEqual(['refused', 'turn'])
  })

  test('covers a handler that awaits a few turns on its own', async () => {
    const platform = testPlatform()
    const task = vi.fn<() => void>()
    platform.timer(1, () => void turns(4).then(task))
    await platform.advance(1)
    expect(task).toHaveBeenCalledOnce()
  })

  test('does not wait for a caller of wait()', async () => {
    const platform = testPlatform()
    const store = platform.track(await openStore(platform))
    const waiting = store.notifier.wait({ queues: ['default'], timeoutMs: 60_000 })
    await platform.settled()
    await store.enqueue([aJob()])
    expect(await waiting).toMatchObject([{ queue: 'default', jobs: 1 }])
  })

  test('does not wait for calls that a test holds back on purpose', async () => {
    const platform = testPlatform()
    const store = faultyStore(await openStore(platform))
    expect(platform.track(store)).toBe(store)
    const held = [store.hold('counts'), store.holdReply('queues.list')]
    const calls = [store.counts(), store.queues.list()]
    await platform.settled()
    await Promise.all(held.map(({ reached }) => reached))
    for (const one of held) one.release()
    await Promise.all(calls)
  })

  test('waits for all other calls of a store with faults', async () => {
    const platform = testPlatform()
    const answer = Promise.withResolvers<never[]>()
    const raw = { ...(await openStore(platform)), counts: () => answer.promise }
    const store = platform.track(faultyStore(faultyStore(raw)))
    void store.counts()
    const settled = vi.fn<() => void>()
    const settling = platform.settled().then(settled)
    await turns(50)
    expect(settled).not.toHaveBeenCalled()
    answer.resolve([])
    await settling
  })

  test('a store that is already tracked stays unchanged', async () => {
    const platform = testPlatform()
    const raw = await openStore(platform)
    const tracked = platform.track(raw)
    expect(platform.track(tracked)).toBe(tracked)
    expect(platform.track(raw)).toBe(tracked)
    expect(tracked.name).toBe(raw.name)
  })
})
