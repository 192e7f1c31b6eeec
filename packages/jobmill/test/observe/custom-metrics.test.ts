// Metrics of an application next to ours in the Prometheus text: a strict parser accepts it, whatever the
// application does.
import { describe, expect, test } from 'vitest'
import type { CustomMetricLabels, GaugeReading } from '../../src/internal.ts'
import { customMetrics } from '../../src/observe/prometheus/custom-metrics.ts'
import { exposition } from '../../src/observe/prometheus/text.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { subjects } from '../runtime/stores.ts'
import { readExposition, type ReadFamily, valueOf } from './exposition.ts'

const help = 'What it tells.'
const always = { name: 'always', type: 'gauge', help, samples: [{ value: 1 }] } as const

function bench() {
  const platform = testPlatform()
  const { metrics: figures, families } = customMetrics(platform)
  const scrape = async (): Promise<ReadonlyMap<string, ReadFamily>> =>
    readExposition(exposition([always, ...(await families(5_000))]))
  return { platform, ...figures, scrape }
}

describe('a counter', () => {
  test('reports every series from zero, and adds 1 or more', async () => {
    const { counter, scrape } = bench()
    const plain = counter({ name: 'plain_total', help })
    const sent = counter({
      name: 'sent_total',
      help,
      labels: { outcome: ['acked', 'expired'], via: ['a', 'b'] },
    })
    const before = await scrape()
    expect(before.get('plain_total')).toMatchObject({ type: 'counter', help, samples: [{ value: 0 }] })
    expect(before.get('sent_total')?.samples.map(({ labels, value }) => [labels, value])).toEqual([
      [{ outcome: 'acked', via: 'a' }, 0],
      [{ outcome: 'acked', via: 'b' }, 0],
      [{ outcome: 'expired', via: 'a' }, 0],
      [{ outcome: 'expired', via: 'b' }, 0],
    ])
    plain.add()
    plain.add({}, 2.5)
    sent.add({ via: 'b', outcome: 'acked' })
    sent.add({ outcome: 'acked', via: 'b' }, 0)
    const after = await scrape()
    expect(valueOf(after, 'plain_total')).toBe(3.5)
    expect(valueOf(after, 'sent_total', { outcome: 'acked', via: 'b' })).toBe(1)
  })

  test('with open label values adds a series at first use, at most 1,000, and counts the rest as other', async () => {
    const { counter, scrape } = bench()
    const asked = counter({ name: 'asked_total', help, labels: { chat: true, how: ['in', 'out'] } })
    expect((await scrape()).has('asked_total')).toBe(false)
    for (let n = 0; n < 1_000; n += 1) asked.add({ chat: `c${n}`, how: 'in' })
    asked.add({ chat: 'c7', how: 'in' }, 5)
    for (const chat of ['one more', 'and another']) asked.add({ chat, how: 'in' }, 2)
    asked.add({ chat: 'c7', how: 'out' })
    const all = await scrape()
    expect(all.get('asked_total')?.samples).toHaveLength(1_002)
    expect(valueOf(all, 'asked_total', { chat: 'c7', how: 'in' })).toBe(6)
    expect(valueOf(all, 'asked_total', { chat: 'other', how: 'in' })).toBe(4)
    expect(valueOf(all, 'asked_total', { chat: 'other', how: 'out' })).toBe(1)
  })

  test('escapes labels and help, and counts overlong values as other', async () => {
    const { counter, scrape } = bench()
    const odd = 'a "b"\\\nc}'
    const asked = counter({ name: 'odd_total', help: 'a \\ and\na line', labels: { who: true } })
    asked.add({ who: odd })
    asked.add({ who: 'x'.repeat(201) })
    const all = await scrape()
    expect(valueOf(all, 'odd_total', { who: odd })).toBe(1)
    expect(valueOf(all, 'odd_total', { who: 'other' })).toBe(1)
    expect(all.get('odd_total')?.help).toBe('a \\\\ and\\na line')
  })

  test('says what is wrong with a label whose values are not declared', () => {
    const { counter } = bench()
    const sent = counter({ name: 'sent_total', help, labels: { chat: true } })
    expect(() => (sent.add as (labels: unknown) => void)({ chat: 7 })).toThrow(
      'sent_total.labels.chat: must be a string (got 7). Pass a string.',
    )
  })

  test('refuses invalid labels and amounts, with the field', () => {
    const { counter } = bench()
    const sent = counter({ name: 'sent_total', help, labels: { outcome: ['acked'], chat: true } })
    const add = sent.add as (labels: unknown, n?: number) => void
    for (const [labels, n, field] of [
      [{ outcome: 'lost', chat: 'a' }, 1, 'sent_total.labels.outcome'],
      [{ outcome: 'acked' }, 1, 'sent_total.labels.chat'],
      [{ outcome: 'acked', chat: 7 }, 1, 'sent_total.labels.chat'],
      [{ outcome: 'acked', chat: 'a', more: 'b' }, 1, 'sent_total.labels.more'],
      [{ outcome: 'acked', chat: 'a' }, -1, 'sent_total.n'],
      [{ outcome: 'acked', chat: 'a' }, Number.NaN, 'sent_total.n'],
    ] as const)
      expect(() => add(labels, n)).toThrow(
        expect.objectContaining({ field, fix: expect.any(String) as string }),
      )
  })
})

describe('a histogram', () => {
  test('counts values by bucket, their number and their sum', async () => {
    const { histogram, scrape } = bench()
    const sizes = histogram({ name: 'size_bytes', help, buckets: [1, 10, 100], labels: { kind: ['a', 'b'] } })
    for (const value of [0, 1, 2, 10, 11, 5_000]) sizes.observe(value, { kind: 'a' })
    const all = await scrape()
    const at = (kind: string) =>
      ['1', '10', '100', '+Inf'].map((le) => valueOf(all, 'size_bytes_bucket', { kind, le }))
    expect([at('a'), at('b')]).toEqual([
      [2, 4, 5, 6],
      [0, 0, 0, 0],
    ])
    expect(valueOf(all, 'size_bytes_sum', { kind: 'a' })).toBe(5_024)
    expect(valueOf(all, 'size_bytes_count', { kind: 'a' })).toBe(6)
    expect(() => sizes.observe(Number.POSITIVE_INFINITY, { kind: 'a' })).toThrow('size_bytes.value')
  })
})

describe('a gauge', () => {
  test('is read at each scrape, sync or async', async () => {
    const { gauge, scrape } = bench()
    let n = 0
    gauge({ name: 'depth', help, read: () => (n += 1) })
    gauge({
      name: 'files',
      help,
      labels: { state: ['staged', 'gone'], owner: true },
      read: async () => [{ labels: { state: 'staged', owner: 'ada' }, value: n * 10 }],
    })
    await scrape()
    const second = await scrape()
    expect(valueOf(second, 'depth')).toBe(2)
    expect(valueOf(second, 'files', { state: 'staged', owner: 'ada' })).toBe(20)
    expect(valueOf(second, 'jobmill_gauge_failures_total', { gauge: 'depth' })).toBe(0)
  })

  test.each<[string, () => unknown]>([
    ['throws', () => fail()],
    ['rejects', async () => fail()],
    ['returns nothing', () => undefined],
    ['returns no number', () => [{ labels: { a: 'x' }, value: '1' }]],
    ['returns an unknown label', () => [{ labels: { a: 'x', b: 'y' }, value: 1 }]],
    ['returns no label', () => 1],
    ['returns a series twice', () => ['x', 'x'].map((a) => ({ labels: { a }, value: 1 }))],
    [
      'returns too many series',
      () => Array.from({ length: 1_001 }, (_, a) => ({ labels: { a: `${a}` }, value: 1 })),
    ],
  ])('whose read %s is left out and counted as a failure, and the others are reported', async (_, read) => {
    const { counter, gauge, scrape } = bench()
    gauge({ name: 'bad', help, labels: { a: true }, read: read as () => GaugeReading<{ a: true }> })
    gauge({ name: 'good', help, read: () => 1 })
    counter({ name: 'good_total', help })
    const all = await scrape()
    expect([...all.keys()]).toEqual(['always', 'jobmill_gauge_failures_total', 'good', 'good_total'])
    expect(valueOf(all, 'jobmill_gauge_failures_total', { gauge: 'bad' })).toBe(1)
  })

  test('whose read hangs is left out after the timeout, and is not read again in parallel', async () => {
    const { gauge, scrape: families, platform } = bench()
    const { promise, resolve } = Promise.withResolvers<number>()
    let reads = 0
    gauge({ name: 'slow', help, read: () => ((reads += 1), promise) })
    gauge({ name: 'good', help, read: () => 1 })
    const late = async (): Promise<string[]> => {
      const scrape = families()
      await platform.advance(5_000)
      return [...(await scrape).keys()]
    }
    expect(await late()).toEqual(['always', 'jobmill_gauge_failures_total', 'good'])
    expect(await late()).toEqual(['always', 'jobmill_gauge_failures_total', 'good'])
    expect(reads).toBe(1)
    resolve(7)
    await promise
    await platform.settled()
    expect(valueOf(await families(), 'slow')).toBe(7)
  })
})

describe('a metric is refused', () => {
  const many = Array.from({ length: 40 }, (_, n) => `${n}`)
  test.each<[string, object, string]>([
    ['an invalid name', { name: '7_total' }, 'name'],
    ['a name with a dash', { name: 'a-b_total' }, 'name'],
    ['a reserved name', { name: 'jobmill_jobs_total' }, 'name'],
    ['a counter name without _total', { name: 'sent' }, 'name'],
    ['no help', { name: 'a_total', help: ' ' }, 'help'],
    ['an unknown option', { name: 'a_total', label: {} }, 'counter.label'],
    ['a label with a dash', { name: 'a_total', labels: { 'a-b': true } }, 'labels'],
    ['a label that the format reserves', { name: 'a_total', labels: { __name__: true } }, 'labels'],
    ['a label without values', { name: 'a_total', labels: { a: [] } }, 'labels.a'],
    ['a label with a value twice', { name: 'a_total', labels: { a: ['x', 'x'] } }, 'labels.a'],
    ['too many series', { name: 'a_total', labels: { a: many, b: many } }, 'labels'],
  ])('with %s', (_, options, field) => {
    const { counter } = bench()
    expect(() => counter({ name: 'a_total', help, ...options })).toThrow(
      expect.objectContaining({ field, fix: expect.stringMatching(/^[A-Z]/) as string }),
    )
  })

  test('with buckets that do not rise, a label le, _total on a gauge, or a read that is not a function', () => {
    const { gauge, histogram } = bench()
    for (const buckets of [[], [2, 1], [1, 1], [Number.NaN]])
      expect(() => histogram({ name: 'a', help, buckets })).toThrow('buckets')
    const labels: CustomMetricLabels = { le: true }
    expect(() => histogram({ name: 'a', help, buckets: [1], labels })).toThrow('labels')
    expect(() => gauge({ name: 'a_total', help, read: () => 1 })).toThrow(
      'Remove _total, which is reserved for counters',
    )
    expect(() => gauge({ name: 'a', help, read: 1 as never })).toThrow('read')
  })

  test('if its name is registered, even as a series of a histogram', () => {
    const { counter, gauge, histogram } = bench()
    counter({ name: 'a_total', help })
    histogram({ name: 'b', help, buckets: [1] })
    gauge({ name: 'c_sum', help, read: () => 1 })
    const twice = { code: 'OPTION_CONFLICT', field: 'name', fix: expect.stringContaining('once') as string }
    expect(() => counter({ name: 'a_total', help })).toThrow(expect.objectContaining(twice))
    expect(() => gauge({ name: 'b_count', help, read: () => 1 })).toThrow(expect.objectContaining(twice))
    expect(() => histogram({ name: 'c', help, buckets: [1] })).toThrow(expect.objectContaining(twice))
  })
})

test('a mill reports them after its own', async () => {
  const [subject] = subjects
  const mill = await subject?.mill({ serve: ['default'] })
  const webhooks = mill?.counter({ name: 'webhooks_total', help, labels: { outcome: ['new', 'repeat'] } })
  mill?.gauge({ name: 'staged_files', help, read: () => 3 })
  const took = mill?.histogram({ name: 'upload_seconds', help, buckets: [0.1, 1] })
  webhooks?.add({ outcome: 'new' })
  took?.observe(0.5)
  const families = readExposition((await mill?.prometheus()) ?? '')
  expect([...families.keys()].slice(-3)).toEqual(['webhooks_total', 'staged_files', 'upload_seconds'])
  expect(valueOf(families, 'webhooks_total', { outcome: 'new' })).toBe(1)
  expect(valueOf(families, 'webhooks_total', { outcome: 'repeat' })).toBe(0)
  expect(valueOf(families, 'upload_seconds_bucket', { le: '1' })).toBe(1)
  expect(valueOf(families, 'jobmill_store_up')).toBe(1)
})

function fail(): never {
  throw new Error('no')
}
