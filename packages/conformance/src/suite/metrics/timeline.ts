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
    const { store, clock, another } = t
    const job = aJob().id
    const event = anEvent('queue.paused', { agoMs: 250, queue: 'a', job, data: '{"by":"ada","n":[1]}' })
    const source = await write(store, [event])
    const [first, ...more] = await (await another()).metrics.timeline({ limit: 10 })
    assert.ok(first)
    assert.equal(more.length, 0)
    const { n, data, ...rest } = first
    assert.deepEqual(rest, { at: clock.now() - 250, type: 'queue.paused', source, queue: 'a', job })
    assert.ok(Number.isSafeInteger(n))
    assert.deepEqual(JSON.parse(data), { by: 'ada', n: [1] })
  }),
  test('the last written comes first, whatever its time, and the number rises with every event', async (t) => {
    const { store, clock } = t
    await write(store, [anEvent('a'), anEvent('b', { agoMs: 5_000 })])
    clock.advance(10)
    await write(store, [anEvent('c', { agoMs: 60_000 }), anEvent('d')])
    const events = await store.metrics.timeline({ limit: 10 })
    assert.deepEqual(pluck(events, 'type'), ['d', 'c', 'b', 'a'])
    const numbers = events.map(({ n }) => n)
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => b - a),
    )
    assert.equal(new Set(numbers).size, 4)
  }),
  test('P11 the events of a repeated recording are not written again', async ({ store, another }) => {
    const other = await another()
    const recording = {
      source: anInstance().id,
      seq: 3,
      deltas: [],
      own: [],
      events: [anEvent('a'), anEvent('b')],
    }
    await Promise.all([store.metrics.record(recording), other.metrics.record(recording)])
    await store.metrics.record({ ...recording, seq: 2 })
    assert.deepEqual(await types(store), ['b', 'a'])
  }),
  test('events are filtered by type, queue, job and time, also together', async ({ store, clock }) => {
    const job = aJob().id
    await write(store, [
      anEvent('a', { queue: 'q', agoMs: 100 }),
      anEvent('b', { queue: 'q', job, agoMs: 50 }),
      anEvent('c', { job, agoMs: 10 }),
      anEvent('a', { queue: 'r', job }),
    ])
    const now = clock.now()
    assert.deepEqual(await types(store, { types: ['a', 'c'] }), ['a', 'c', 'a'])
    assert.deepEqual(await types(store, { types: [] }), [])
    assert.deepEqual(await types(store, { queue: 'q' }), ['b', 'a'])
    assert.deepEqual(await types(store, { job }), ['a', 'c', 'b'])
    assert.deepEqual(await types(store, { from: now - 50 }), ['a', 'c', 'b'])
    assert.deepEqual(await types(store, { before: now - 50 }), ['a'])
    assert.deepEqual(await types(store, { from: now - 50, before: now - 10 }), ['b'])
    assert.deepEqual(await types(store, { types: ['a'], job, queue: 'r', from: now }), ['a'])
    assert.deepEqual(await types(store, { queue: 'nope' }), [])
  }),
  test('pages continue where the last one ended, and new events do not shift them', async ({ store }) => {
    await write(
      store,
      ['a', 'b', 'c', 'd', 'e'].map((type) => anEvent(type)),
    )
    const events: TimelineEvent[] = await store.metrics.timeline({ limit: 2 })
    assert.equal(events.length, 2)
    for (let n = 0; n < 5; n += 1) {
      await write(store, [anEvent('new')])
      const beforeN = events.at(-1)?.n ?? 0
      const page = await store.metrics.timeline({ limit: 2, beforeN })
      assert.ok(page.length <= 2)
      events.push(...page)
    }
    assert.deepEqual(pluck(events, 'type'), ['e', 'd', 'c', 'b', 'a'])
  }),
]
