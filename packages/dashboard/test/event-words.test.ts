/** Every stored lifecycle event has a description. */
import { expect, test } from 'vitest'
import { KEPT_TYPES } from '../../jobmill/src/observe/timeline.ts'
import { eventLevel, eventWords } from '../src/kit/text/event-words.ts'

const entry = (type: string, data: Record<string, unknown> = {}, queue: string | null = null) => ({
  n: 1,
  at: 0,
  type,
  instance: 'i',
  queue,
  job: null,
  data,
})

test.each(KEPT_TYPES)('%s has a description, also when fields are missing', (type) => {
  const words = eventWords(entry(type))
  expect(words).toMatch(/^[A-Z?]/)
  expect(words).not.toMatch(/undefined|NaN|\[object/)
})

test('descriptions have names, counts and units', () => {
  expect(eventWords(entry('queue-cooling', { forMs: 3_000 }, 'mail'))).toBe(
    'Queue mail paused by throttling for 3 s',
  )
  expect(eventWords(entry('reaped', { jobs: 1, instances: ['a', 'b'] }))).toBe(
    'Reclaimed 1 job from 2 unresponsive processes',
  )
  expect(eventWords(entry('duty-failing', { duty: 'reap', error: 'Error: away\n    at x' }))).toBe(
    'Duty reap failed: Error: away',
  )
  const started = { queues: Array.from({ length: 10 }, String), kinds: ['a'] }
  expect(eventWords(entry('mill-started', { ...started, label: 'shop-worker', version: '2.15.0' }))).toBe(
    'shop-worker 2.15.0 started with 10 queues and 1 kind',
  )
  expect(eventWords(entry('mill-started', { ...started, label: 'shop-2.15.0-b2', version: '2.15.0' }))).toBe(
    'shop-2.15.0-b2 started with 10 queues and 1 kind',
  )
  expect(eventWords(entry('mill-started', started))).toBe('Process started with 10 queues and 1 kind')
  expect(eventWords(entry('queue-changed', { before: { workers: 2 }, after: { workers: 7 } }, 'mail'))).toBe(
    'Settings of queue mail changed: workers 2 → 7',
  )
  expect(eventWords(entry('something-new'))).toBe('something new')
  expect(['store-failing', 'stuck', 'leading'].map((type) => eventLevel({ type }))).toEqual([
    'bad',
    'warning',
    'plain',
  ])
})
