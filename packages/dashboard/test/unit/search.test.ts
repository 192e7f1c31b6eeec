/** Searches: the page made of several responses, the number of jobs to scan, and tags to suggest. */
import { expect, test } from 'vitest'
import type { Problem } from '../../src/api/client.ts'
import type { JobPage } from '../../src/api/types.ts'
import { parse } from '../../src/pages/jobs/filter/parse.ts'
import { toBody } from '../../src/pages/jobs/filter/address.ts'
import { indexFor, withIndex } from '../../src/pages/jobs/search/payload-index.ts'
import { guessTags, withTag } from '../../src/pages/jobs/search/guess-tags.ts'
import { continued, NEW_SEARCH, statusOf, totalOf, wholePage } from '../../src/pages/jobs/search/search.ts'

type Job = JobPage['jobs'][number]
const job = (id: string, tags: readonly string[] = []): Job => ({ id, tags, state: 'ready' }) as Job
const pageOf = (ids: readonly string[], scanned: number, next: string | null, complete = false): JobPage => ({
  jobs: ids.map((id) => job(id)),
  next,
  scanned,
  complete,
})
const shown = (page: JobPage): string => page.jobs.map(({ id }) => id).join('')

test('responses add up to one page, which shows each job once', () => {
  const first = pageOf(['a', 'b'], 10, 'x')
  expect(statusOf(first, NEW_SEARCH)).toBe('running')
  const second = continued(NEW_SEARCH, first, pageOf(['c'], 20, 'y'), true)
  const third = continued(second, first, pageOf(['d'], 30, null, true), true)
  expect(statusOf(first, third)).toBe('done')
  // Newer jobs pushed a and b out of the first response, and n is new.
  const now = wholePage(pageOf(['n'], 10, 'x'), [job('n')], third)
  expect(shown(now)).toBe('nabcd')
  expect(now).toMatchObject({ scanned: 60, next: null, complete: true })
  // In a list of one state, a job that left it must not come back.
  const ofState = continued(NEW_SEARCH, first, pageOf(['c'], 20, 'y'), false)
  expect(shown(wholePage(pageOf(['a'], 10, 'x'), [job('a')], ofState))).toBe('ac')
})

test('a search ends when its page is full, it is stopped, or a request fails', () => {
  const first = pageOf(['a', 'b'], 10, 'x')
  const full = continued(NEW_SEARCH, first, pageOf(['c'], 5, 'y', true), true)
  expect(statusOf(first, full)).toBe('full')
  expect(wholePage(first, first.jobs, full)).toMatchObject({ next: 'y', complete: true, scanned: 15 })
  expect(statusOf(first, { ...NEW_SEARCH, isStopped: true })).toBe('stopped')
  expect(statusOf(first, { ...NEW_SEARCH, problem: {} as Problem })).toBe('failed')
  for (const whole of [pageOf(['a', 'b'], 10, 'x', true), pageOf([], 10, null, true)])
    expect(statusOf(whole, NEW_SEARCH)).toBe('none')
})

test('the number of jobs to scan is that of the lists which are read', () => {
  const all = { scheduled: 1, ready: 20, running: 3, done: 400, dead: 50, cancelled: 6 }
  const mail = { scheduled: 1, ready: 2, running: 1, done: 4, dead: 5, cancelled: 0 }
  const total = (text: string): number | null =>
    totalOf(parse(text).filter, (queue) => (queue === 'mail' ? mail : all))
  expect(total('queue:mail word')).toBe(480)
  expect(total('queue:mail state:dead word')).toBe(5)
  expect(total('queue:mail state:retrying word')).toBe(1)
  expect(total('queue:mail state:running word')).toBe(3)
  expect(total('tag:vip word')).toBeNull()
  expect(totalOf(parse('word').filter, () => null)).toBeNull()
})

test('tags that may hold the value of a payload filter are guessed from its path and its matches', () => {
  const { filter } = parse('queue:mail payload.customer.id:cus_4711')
  expect(guessTags(filter, [])).toEqual(['cus_4711', 'customer:cus_4711', 'id:cus_4711'])
  expect(guessTags(filter, [job('a', ['vip', 'acme:cus_4711'])])[0]).toBe('acme:cus_4711')
  expect(guessTags(parse('tag:a payload.b:c').filter, [])).toEqual([])
  expect(guessTags(parse('word').filter, [])).toEqual([])
  expect(withTag(filter, 'acme:cus_4711')).toEqual(parse('queue:mail tag:acme:cus_4711').filter)
})

test('a payload filter uses the index of the kinds that declare its path', () => {
  const kinds = [
    { kind: 'a', indexedPayload: ['customer.id', 'sku'] },
    { kind: 'b', indexedPayload: ['customer.id'] },
    { kind: 'c', indexedPayload: [] },
  ]
  const bodyFor = (text: string, change: object = {}) => {
    const filter = { ...parse(text).filter, ...change }
    const index = indexFor(filter, kinds)
    const { payloadAt, indexedPayload } = toBody(withIndex(filter, index), 0)
    return { kinds: index?.kinds, payloadAt, indexedPayload }
  }
  const one = ['customer.id:7']
  expect(bodyFor('payload.customer.id:7')).toEqual({ kinds: ['a', 'b'], indexedPayload: one })
  expect(bodyFor('payload.customer.id:7 kind:b')).toEqual({ kinds: ['b'], indexedPayload: one })
  expect(bodyFor('payload.customer.id:7 kind:c')).toEqual({ payloadAt: one })
  expect(bodyFor('payload.note:x payload.sku:1 payload.customer.id:7')).toEqual({
    kinds: ['a'],
    indexedPayload: ['sku:1'],
    payloadAt: ['note:x', 'customer.id:7'],
  })
  expect(bodyFor('payload.customer.id:7', { readsAll: true })).toEqual({ kinds: ['a', 'b'], payloadAt: one })
  // No entry: too long, or perhaps null.
  for (const value of ['x'.repeat(201), 'null'])
    expect(bodyFor(`payload.sku:${value}`)).toEqual({ payloadAt: [`sku:${value}`] })
  expect(totalOf(withIndex(parse('payload.sku:1').filter, { path: 'sku', kinds: [] }), () => null)).toBe(null)
})
