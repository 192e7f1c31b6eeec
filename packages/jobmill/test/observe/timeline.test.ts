// Which events are kept, in what form, and how many.
import { describe, expect, test } from 'vitest'
import type { EventTable } from '../../src/job/events.ts'
import { timeline } from '../../src/observe/timeline.ts'
import { aClock, attemptIn, finished, started } from './bench.ts'

const attempt = attemptIn('q')
const job = (queue: string) => ({ id: attempt.id, kind: 'work', queue, state: 'ready' })

describe('the timeline', () => {
  test('keeps events that no job or attempt stores, with queue, job, time and the other fields', () => {
    const clock = aClock()
    const kept = timeline(clock)
    kept.keep('queue-cooling', { queue: 'q', forMs: 5 })
    clock.advance(20)
    kept.keep('lease-lost', attempt)
    kept.keep('leading', { duty: 'reap' })
    kept.keep('schedule-fired', { schedule: 's', plannedAt: 7, id: attempt.id, outcome: 'enqueued' })
    expect(kept.take(10)).toEqual([
      { type: 'queue-cooling', at: 0, queue: 'q', job: null, data: '{"forMs":5}' },
      {
        type: 'lease-lost',
        at: 20,
        queue: 'q',
        job: attempt.id,
        data: '{"kind":"work","attempt":1,"maxAttempts":5}',
      },
      { type: 'leading', at: 20, queue: null, job: null, data: '{"duty":"reap"}' },
      {
        type: 'schedule-fired',
        at: 20,
        queue: null,
        job: attempt.id,
        data: '{"schedule":"s","plannedAt":7,"outcome":"enqueued"}',
      },
    ])
    expect(kept.isEmpty()).toBe(true)
  })

  test('does not keep events that jobs and attempts store, nor very frequent ones', () => {
    const kept = timeline(aClock())
    kept.keep('started', started('q'))
    kept.keep('finished', finished('q'))
    kept.keep('dead', { ...attempt, error: 'x' })
    kept.keep('duty-done', { duty: 'stage', counts: { ready: 1 }, tookMs: 1 })
    expect(kept.isEmpty()).toBe(true)
  })

  test('stores errors as text that every database accepts', () => {
    const kept = timeline(aClock())
    const error = new Error('no\u0000way', { cause: new Error('root \ud800') })
    kept.keep('store-failing', { part: 'claim', error })
    kept.keep('duty-failing', { duty: 'reap', error: Symbol('odd'), failures: 1 })
    kept.keep('kind-unknown', { kind: 'a\u0000b', near: 'ab' })
    const data = kept.take(10).map((event) => JSON.parse(event.data) as unknown)
    expect(data).toEqual([
      { part: 'claim', error: 'Error: no\ufffdway\n  caused by: Error: root \ufffd' },
      { duty: 'reap', error: 'Symbol(odd)', failures: 1 },
      { kind: 'a\ufffdb', near: 'ab' },
    ])
  })

  test('stores for `reaped` the number of jobs per queue, however many there are', () => {
    const kept = timeline(aClock())
    const jobs: EventTable['reaped']['jobs'] = [...Array.from({ length: 9_999 }, () => job('a')), job('b')]
    kept.keep('reaped', { instances: ['i'], jobs })
    kept.keep('reaped', { instances: ['j'], jobs: [] })
    expect(kept.take(10).map(({ queue, data }) => [queue, data])).toEqual([
      ['a', '{"instances":["i"],"jobs":9999}'],
      ['b', '{"instances":["i"],"jobs":1}'],
      [null, '{"instances":["j"],"jobs":0}'],
    ])
  })

  test('keeps the first hundred entries of a longer list', () => {
    const kept = timeline(aClock())
    const kinds = Array.from({ length: 150 }, (_, n) => `kind-${n}`)
    kept.keep('mill-started', { instance: 'i', label: null, version: '2', queues: ['q'], kinds })
    const [event] = kept.take(1)
    expect(JSON.parse(event?.data ?? '')).toEqual({
      instance: 'i',
      label: null,
      version: '2',
      queues: ['q'],
      kinds: kinds.slice(0, 100),
    })
  })

  test('keeps the first events that fit, and drops and counts the others', () => {
    const kept = timeline(aClock(), 2)
    for (const queue of ['a', 'b', 'c']) kept.keep('queue-changed', { queue })
    expect([kept.take(1).map(({ queue }) => queue), kept.dropped()]).toEqual([['a'], 1])
    kept.keep('queue-changed', { queue: 'd' })
    expect([kept.take(5).map(({ queue }) => queue), kept.dropped()]).toEqual([['b', 'd'], 1])
  })
})
