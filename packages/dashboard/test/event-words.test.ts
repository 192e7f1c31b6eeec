/** Every stored lifecycle event, and every change of the API in the audit log, has a description. */
import { expect, test } from 'vitest'
import { KEPT_TYPES } from '../../jobmill/src/observe/timeline.ts'
import { operationsOf } from '../../server/test/calls.ts'
import { apiDocument } from '../../server/test/document.ts'
import { auditWords } from '../src/kit/text/audit-words.ts'
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

test('every change of the API has a description in the audit log', async () => {
  const changes = operationsOf(await apiDocument()).filter(({ method }) => method !== 'GET')
  expect(changes.length).toBeGreaterThan(30)
  const undescribed = changes.filter(({ name }) =>
    auditWords({ who: 'ada', what: name, target: 'x', before: null, after: null }).includes(name),
  )
  expect(undescribed.map(({ name }) => name)).toEqual([])
})

const said = (what: string, target: string, before: unknown, after: unknown): string =>
  auditWords({ who: 'ada', what, target, before, after })

test('descriptions of changes say what changed', () => {
  expect(said('queues.change', 'mail', { workers: 2 }, { workers: 7 })).toBe(
    'ada changed queue mail: workers 2 → 7',
  )
  expect(said('bulk.run', 'x', null, { act: 'retry', filter: {} })).toBe('ada started a bulk retry')
  expect(said('jobs.enqueue-many', 'x', null, { kind: 'mail.send', jobs: 40 })).toBe(
    'ada enqueued 40 jobs of kind mail.send',
  )
  expect([said('alerts.set', 'ops', null, {}), said('alerts.set', 'ops', {}, {})]).toEqual([
    'ada created alert rule ops',
    'ada changed alert rule ops',
  ])
  expect(said('overrides.reset-option', 'mail', [{ option: 'workers' }], [])).toBe(
    'ada reset workers of mail',
  )
})
