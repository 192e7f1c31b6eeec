// A timed store behaves like the store: same answers, same calls, same other members.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import { storeTimings } from '../../src/observe/store-timings.ts'
import type { FullStore } from '../../src/store/store.ts'
import { ALL_VERBS, verbOf } from '../../src/store/verbs.ts'
import { aClock, histogramOf } from './bench.ts'

const UNTIMED = ['open', 'close', 'notifier.wait']

/** Classes with a private field, as a third-party store may have: their methods work only on themselves. */
class Strange {
  readonly #calls: unknown[][]
  readonly name = 'strange'
  readonly extra = 'more'
  constructor(calls: unknown[][]) {
    this.#calls = calls
  }
  called(...call: unknown[]): void {
    this.#calls.push(call)
  }
}

function aStore(answer: (verb: string) => Promise<unknown>): { calls: unknown[][]; store: FullStore } {
  const calls: unknown[][] = []
  const store = new Strange(calls) as Strange & Record<string, Strange>
  for (const verb of ALL_VERBS) {
    const [part = '', name] = verb.split('.')
    const owner = name === undefined ? store : (store[part] ??= new Strange(calls))
    const method = function (this: Strange, ...args: unknown[]): Promise<unknown> {
      this.called(verb, ...args)
      return answer(verb)
    }
    Object.defineProperty(owner, name ?? part, { value: method })
  }
  for (const name of ['notify', 'forward']) {
    const method = function (this: Strange, ...args: unknown[]): void {
      this.called(name, ...args)
    }
    Object.defineProperty(store['notifier'], name, { value: method })
  }
  return { calls, store: store as unknown as FullStore }
}

describe('a timed store', () => {
  test('forwards every call at once with its arguments, and returns the same promise', async () => {
    const answers = new Map<string, Promise<unknown>>()
    const { calls, store } = aStore((verb) => {
      answers.set(verb, Promise.resolve(verb))
      return answers.get(verb) ?? Promise.resolve()
    })
    const timed = storeTimings(aClock()).around(store)
    for (const verb of ALL_VERBS) {
      const answer = verbOf(timed, verb)(verb, 2)
      expect(calls.at(-1)).toEqual([verb, verb, 2])
      expect(answer).toBe(answers.get(verb))
    }
    timed.notifier.notify(['a'])
    expect(calls.at(-1)).toEqual(['notify', ['a']])
    timed.notifier.forward({ queue: 'a', jobs: 1, seed: 1, skip: 0, passes: false })
    expect(calls.at(-1)?.[0]).toBe('forward')
    expect([timed.name, (timed as unknown as Strange).extra]).toEqual(['strange', 'more'])
    await Promise.all(answers.values())
  })

  test('measures reads, writes and the heartbeat separately, and neither open nor wait', async () => {
    const clock = aClock()
    const { store } = aStore(() => Promise.resolve())
    const timings = storeTimings(clock)
    const timed = timings.around(store)
    for (const verb of ALL_VERBS) {
      const call = verbOf(timed, verb)()
      clock.advance(UNTIMED.includes(verb) ? 1_000 : 3)
      await call
    }
    const { histograms = {}, counters } = timings.take()
    const [three = ''] = Object.keys(histogramOf([3]))
    expect(Object.values(histograms).flatMap(Object.keys)).toEqual([three, three, three])
    const count = (name: string): number => histograms[`store.${name}`]?.[three] ?? 0
    expect(count('heartbeat')).toBe(1)
    expect(count('read') + count('write')).toBe(ALL_VERBS.length - UNTIMED.length - 1)
    expect(counters).toBeUndefined()
    expect(timings.take()).toEqual({})
    for (const verb of ['get', 'metrics.read', 'enqueue', 'metrics.record'] as const)
      await verbOf(timed, verb)()
    expect(timings.take()).toEqual({
      histograms: { 'store.read': histogramOf([0, 0]), 'store.write': histogramOf([0, 0]) },
    })
  })

  test('S low counts failures of the store, also a refused login, but not refused input; times both, and both reach the caller', async () => {
    const errors = [
      new JobmillError('STORE_UNAVAILABLE', 'away'),
      new JobmillError('OUTCOME_UNKNOWN', 'lost'),
      new JobmillError('STORE_REFUSED', 'no permission'),
      new TypeError('broken'),
      new JobmillError('QUEUE_UNKNOWN', 'no such queue'),
    ]
    const left = [...errors]
    const { store } = aStore(() => Promise.reject(left.shift() ?? new Error('no more')))
    const timings = storeTimings(aClock())
    const timed = timings.around(store)
    for (const error of errors) await expect(timed.queues.list()).rejects.toBe(error)
    expect(timings.take()).toEqual({
      counters: { 'store.failures': 4 },
      histograms: { 'store.read': histogramOf([0, 0, 0, 0, 0]) },
    })
  })

  test('counts all calls since its start, by verb, whatever was taken', async () => {
    const clock = aClock()
    let isAway = false
    const away = new JobmillError('STORE_UNAVAILABLE', 'away')
    const { store } = aStore(() => (isAway ? Promise.reject(away) : Promise.resolve()))
    const timings = storeTimings(clock)
    const timed = timings.around(store)
    for (const ms of [3, 5]) {
      const call = verbOf(timed, 'claim')()
      clock.advance(ms)
      await call
      timings.take()
    }
    isAway = true
    await expect(timed.queues.list()).rejects.toBe(away)
    timings.take()
    await expect(timed.queues.list()).rejects.toBe(away)
    const { verbs, failures } = timings.totals()
    expect(failures).toBe(2)
    expect(Object.fromEntries(verbs)).toEqual({
      claim: { histogram: histogramOf([3, 5]), sumMs: 8 },
      'queues.list': { histogram: histogramOf([0, 0]), sumMs: 0 },
    })
    expect(timings.take()).toMatchObject({ counters: { 'store.failures': 1 } })
  })
})
