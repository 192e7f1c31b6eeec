/** The timeline: events that are not part of a job or an attempt, in the order of writing. */
import assert from 'node:assert/strict'
import type { FullStore, NewTimelineEvent, TimelineEvent, TimelineQuery } from 'jobmill/store'
import { aJob, anInstance } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

function anEvent(type: string, overrides: Partial<NewTimelineEvent> = {}): NewTimelineEvent {
  return { type, agoMs: 0, queue: null, job: null, data: '{}', ...overrides }
}

async function write(store: FullStore, events: readonly NewTimelineEvent[], seq = 1): Promise<string> {
  const source = anInstance().id
  await store.metrics.record({ source, seq, deltas: [], own: [], events })
  return source
}

async function types(store: FullStore, query: Partial<TimelineQuery> = {}): Promise<string[]> {
  return (await store.metrics.timeline({ limit: 100, ...query })).map(({ type }) => type)
}

export const timelineCases: readonly Case[] = [
  test('P9 an event is stored with all its fields, its time by the clock of the database, and its instance', async (t) => {
    const job = aJob().id
    const event = anEvent('queue.paused', { agoMs: 250, queue: 'a', job, data: '{"by":"ada","n":[1]}' })
    const source = await write(t.store, [event])
    const [first, ...more] = await (await t.another()).metrics.timeline({ limit: 10 })
    assert.ok(first)
    assert.equal(more.length, 0)
    const { n, data, ...rest } = first
    assert.deepEqual(rest, { at: t.clock.now() - 250, type: 'queue.paused', source, queue: 'a', job })
    assert.ok(Number.isSafeInteger(n))
    assert.deepEqual(JSON.parse(data), { by: 'ada', n: [1] })
  }),
  test('the last written comes first, whatever its time, and the number rises with every event', async (t) => {
    await write(t.store, [anEvent('a'), anEvent('b', { agoMs: 5_000 })])
    t.clock.advance(10)
    await write(t.store, [anEvent('c', { agoMs: 60_000 }), anEvent('d')])
    const events = await t.store.metrics.timeline({ limit: 10 })
    assert.deepEqual(pluck(events, 'type'), ['d', 'c', 'b', 'a'])
    const numbers = pluck(events, 'n')
    assert.deepEqual(
      [...new Set(numbers)].toSorted((a, b) => b - a),
      numbers,
    )
  }),
  test('P11 the events of a repeated recording are not written again', async (t) => {
    const other = await t.another()
    const events = [anEvent('a'), anEvent('b')]
    const recording = { source: anInstance().id, seq: 3, deltas: [], own: [], events }
    await Promise.all([t.store.metrics.record(recording), other.metrics.record(recording)])
    await t.store.metrics.record({ ...recording, seq: 2 })
    assert.deepEqual(await types(t.store), ['b', 'a'])
  }),
  test('events are filtered by type, queue, job and time, also together', async (t) => {
    const job = aJob().id
    await write(t.store, [
      anEvent('a', { queue: 'q', agoMs: 100 }),
      anEvent('b', { queue: 'q', job, agoMs: 50 }),
      anEvent('c', { job, agoMs: 10 }),
      anEvent('a', { queue: 'r', job }),
    ])
    const now = t.clock.now()
    assert.deepEqual(await types(t.store, { types: ['a', 'c'] }), ['a', 'c', 'a'])
    assert.deepEqual(await types(t.store, { types: [] }), [])
    assert.deepEqual(await types(t.store, { queue: 'q' }), ['b', 'a'])
    assert.deepEqual(await types(t.store, { job }), ['a', 'c', 'b'])
    assert.deepEqual(await types(t.store, { from: now - 50 }), ['a', 'c', 'b'])
    assert.deepEqual(await types(t.store, { before: now - 50 }), ['a'])
    assert.deepEqual(await types(t.store, { from: now - 50, before: now - 10 }), ['b'])
    assert.deepEqual(await types(t.store, { types: ['a'], job, queue: 'r', from: now }), ['a'])
    assert.deepEqual(await types(t.store, { queue: 'nope' }), [])
  }),
  test('pages continue where the last one ended, and new events do not shift them', async (t) => {
    await write(
      t.store,
      ['a', 'b', 'c', 'd', 'e'].map((type) => anEvent(type)),
    )
    const events: TimelineEvent[] = await t.store.metrics.timeline({ limit: 2 })
    assert.equal(events.length, 2)
    for (let n = 0; n < 5; n += 1) {
      await write(t.store, [anEvent('new')])
      const beforeN = events.at(-1)?.n ?? 0
      const page = await t.store.metrics.timeline({ limit: 2, beforeN })
      assert.ok(page.length <= 2)
      events.push(...page)
    }
    assert.deepEqual(pluck(events, 'type'), ['e', 'd', 'c', 'b', 'a'])
  }),
]
