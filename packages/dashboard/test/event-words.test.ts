/** Every event that stands in the timeline is told in words. */
import { expect, test } from 'vitest'
import { KEPT_TYPES } from '../../jobmill/src/observe/timeline.ts'
import { eventLevel, eventWords } from '../src/kit/event-words.ts'

const entry = (type: string, data: Record<string, unknown> = {}, queue: string | null = null) => ({
  n: 1,
  at: 0,
  type,
  instance: 'i',
  queue,
  job: null,
  data,
})

test.each(KEPT_TYPES)('%s has its sentence, also when fields are missing', (type) => {
  const words = eventWords(entry(type))
  expect(words).toMatch(/^[A-Z?]/)
  expect(words).not.toMatch(/undefined|NaN|\[object/)
})

test('sentences have names, counts and units', () => {
  expect(eventWords(entry('queue-cooling', { forMs: 3_000 }, 'mail'))).toBe('Queue mail cools down for 3 s')
  expect(eventWords(entry('reaped', { jobs: 1, instances: ['a', 'b'] }))).toBe(
    'Took back 1 job of 2 processes that fell silent',
  )
  expect(eventWords(entry('duty-failing', { duty: 'reap', error: 'Error: away\n    at x' }))).toBe(
    'The duty reap fails: Error: away',
  )
  expect(eventWords(entry('something-new'))).toBe('something new')
  expect(['store-failing', 'stuck', 'leading'].map((type) => eventLevel({ type }))).toEqual([
    'bad',
    'warning',
    'plain',
  ])
})
