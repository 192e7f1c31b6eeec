/** Pages of a list: when a page is full, when a list ends, and where a scan stops at its budget. */
import { describe, expect, test } from 'vitest'
import { BOUNDS, DEFAULTS } from '../../src/job/defaults.ts'
import {
  type Chunk,
  type JobFilter,
  listWithinBudget,
  type Position,
} from '../../src/store/types/job-list.ts'
import type { JobSummary } from '../../src/store/types/job-record.ts'
import { fakePlatform, rejection } from './support.ts'

const job = (at: number): JobSummary => ({
  id: `id-${at}`,
  kind: 'k',
  minVersion: null,
  queue: 'q',
  state: 'ready',
  priority: 0,
  attempt: 0,
  maxAttempts: 5,
  crashes: 0,
  tags: [],
  orderKey: null,
  group: null,
  waitsForOrder: false,
  waitsForGroup: false,
  enqueuedAt: 0,
  dueAt: null,
  startedAt: null,
  endedAt: null,
  instance: null,
  cancelReason: null,
})

/** A list of `length` rows with those that `matches` selects. Records what was read. */
function listOf(length: number, matches: (at: number) => boolean = () => true) {
  const reads: { from: Position | null; rows: number }[] = []
  const read = (from: Position | null, rows: number): Promise<Chunk> => {
    reads.push({ from, rows })
    const start = from === null ? 0 : Number(from[0]) + 1
    const end = Math.min(length, start + rows)
    const looked = Array.from({ length: Math.max(0, end - start) }, (_, at) => start + at)
    const last = looked.at(-1)
    return Promise.resolve({
      jobs: looked.filter((at) => matches(at)).map((at) => ({ job: job(at), position: [at, `id-${at}`] })),
      scanned: looked.length,
      last: last === undefined ? null : [last, `id-${last}`],
      end: end >= length,
    })
  }
  const page = (limit: number, cursor?: string, filter: JobFilter = {}, platform = fakePlatform()) =>
    listWithinBudget(platform, filter, { limit, cursor }, read)
  return { read, reads, page }
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const idsOf = (jobs: readonly JobSummary[]): string[] => jobs.map(({ id }) => id)

test('fills a page with one read if every row matches', async () => {
  const { page, reads } = listOf(10)
  const { jobs, next, scanned, complete } = await page(3)
  expect(idsOf(jobs)).toEqual(['id-0', 'id-1', 'id-2'])
  expect(next).not.toBeNull()
  expect({ scanned, complete }).toEqual({ scanned: 3, complete: true })
  expect(reads).toEqual([{ from: null, rows: 3 }])
})

test('the cursor continues after the last job of the page, not after the last row read', async () => {
  const { page, reads } = listOf(20, (at) => at % 2 === 0)
  const first = await page(3)
  expect(idsOf(first.jobs)).toEqual(['id-0', 'id-2', 'id-4'])
  const second = await page(3, first.next ?? '')
  expect(reads.find(({ from }) => from !== null && from[0] === 4)).toMatchObject({
    from: [4, 'id-4'],
    rows: 3,
  })
  expect(idsOf(second.jobs)).toEqual(['id-6', 'id-8', 'id-10'])
})

test('consecutive pages return every job once, in order', async () => {
  const { page } = listOf(1_000, (at) => at % 7 === 0)
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const { jobs, next } = await page(10, cursor)
    ids.push(...idsOf(jobs))
    cursor = next ?? undefined
  } while (cursor !== undefined)
  expect(ids).toEqual(Array.from({ length: 143 }, (_, at) => `id-${at * 7}`))
})

test('the last page has no cursor, and is complete although not full', async () => {
  expect(await listOf(2).page(3)).toMatchObject({ next: null, scanned: 2, complete: true })
  expect(await listOf(0).page(3)).toEqual({ jobs: [], next: null, scanned: 0, complete: true })
  expect(await listOf(5, () => false).page(3)).toEqual({ jobs: [], next: null, scanned: 5, complete: true })
})

test('a read without rows ends the list', async () => {
  const empty: Chunk = { jobs: [], scanned: 0, last: null, end: false }
  const page = await listWithinBudget(fakePlatform(), {}, { limit: 1 }, () => Promise.resolve(empty))
  expect(page).toEqual({ jobs: [], next: null, scanned: 0, complete: true })
})

test('reads grow up to a bound while no row matches', async () => {
  const { page, reads } = listOf(10_000, () => false)
  await page(500)
  expect(reads.map(({ rows }) => rows)).toEqual([500, ...Array.from({ length: 10 }, () => 1_000)])
})

describe('the budget', () => {
  test('in rows stops a scan exactly there, and the next page continues after it', async () => {
    const needle = DEFAULTS.listScanRows + 5
    const { page, reads } = listOf(1_000_000, (at) => at === 7 || at === needle)
    const first = await page(2)
    expect(idsOf(first.jobs)).toEqual(['id-7'])
    expect(first).toMatchObject({ scanned: DEFAULTS.listScanRows, complete: false })
    reads.length = 0
    const second = await page(1, first.next ?? '')
    expect(reads[0]?.from).toEqual([DEFAULTS.listScanRows - 1, `id-${DEFAULTS.listScanRows - 1}`])
    expect(idsOf(second.jobs)).toEqual([`id-${needle}`])
  })

  test('in rows can be smaller for one page', async () => {
    const { read, reads } = listOf(1_000_000, (at) => at === 900)
    const first = await listWithinBudget(fakePlatform(), {}, { limit: 10, mostScanned: 25 }, read)
    expect(first).toMatchObject({ jobs: [], scanned: 25, complete: false })
    expect(reads.map(({ rows }) => rows)).toEqual([10, 15])
    for (const mostScanned of [0, DEFAULTS.listScanRows + 1])
      expect(
        await rejection(() => listWithinBudget(fakePlatform(), {}, { limit: 1, mostScanned }, read)),
      ).toMatchObject({ field: 'mostScanned' })
  })

  test('in time stops a scan after the read that exceeded it', async () => {
    const platform = fakePlatform()
    const list = listOf(1_000_000, () => false)
    const slow = async (from: Position | null, rows: number): Promise<Chunk> => {
      platform.advance(DEFAULTS.listScanMs / 2)
      return list.read(from, rows)
    }
    const page = await listWithinBudget(platform, {}, { limit: 10 }, slow)
    // The second read is half as large, because the first took so long.
    expect(page).toMatchObject({ jobs: [], scanned: 15, complete: false })
    expect(page.next).not.toBeNull()
    expect(list.reads).toHaveLength(2)
  })

  test('does not remove a page that the last read filled', async () => {
    const platform = fakePlatform()
    const list = listOf(1_000)
    const slow = async (from: Position | null, rows: number): Promise<Chunk> => {
      platform.advance(DEFAULTS.listScanMs * 10)
      return list.read(from, rows)
    }
    expect(await listWithinBudget(platform, {}, { limit: 10 }, slow)).toMatchObject({
      scanned: 10,
      complete: true,
    })
  })
})

describe('a cursor', () => {
  test.each<Position>([
    ['0190f5fe-7c00-7a00-8000-0123456789ab'],
    [1_800_000_000_000, 'id'],
    [-5, 12, 'id'],
    [Number.MAX_SAFE_INTEGER, 'ä"\\'],
  ])('restores the position %j', async (...position) => {
    const chunk: Chunk = { jobs: [{ job: job(1), position }], scanned: 1, last: position, end: false }
    const froms: (Position | null)[] = []
    const read = (from: Position | null): Promise<Chunk> => {
      froms.push(from)
      return Promise.resolve(chunk)
    }
    const { next } = await listWithinBudget(fakePlatform(), { state: 'done' }, { limit: 1 }, read)
    await listWithinBudget(fakePlatform(), { state: 'done' }, { limit: 1, cursor: next ?? '' }, read)
    expect(froms).toEqual([null, position])
    expect(next).toMatch(/^[\w-]+$/)
  })

  test('of another listing is refused before any read', async () => {
    const { page, reads } = listOf(10)
    const { next } = await page(1, undefined, { state: 'ready' })
    reads.length = 0
    for (const filter of [{}, { state: 'done' }] satisfies JobFilter[]) {
      expect(await rejection(() => page(1, next ?? '', filter))).toMatchObject({
        code: 'CURSOR_INVALID',
        field: 'cursor',
      })
    }
    expect(reads).toEqual([])
    await expect(page(1, next ?? '', { state: 'ready', queue: 'other' })).resolves.toBeDefined()
  })

  test.each([
    '',
    'nonsense',
    '%%%',
    encoded('all'),
    encoded({ 0: 'all', 1: 1 }),
    encoded(['all']),
    encoded([]),
    encoded(['all', null]),
    encoded(['all', [1]]),
    encoded(['all', { id: 1 }]),
    encoded(['all', true]),
  ])('from elsewhere is refused: %j', async (cursor) => {
    const { page, reads } = listOf(10)
    const error = await rejection(() => page(1, cursor))
    expect(error.code).toBe('CURSOR_INVALID')
    expect(error.message).toMatch(
      /^cursor: is not a cursor of this listing \(got ".*"\)\. Pass "next" of the previous page/,
    )
    expect(reads).toEqual([])
  })
})

test.each([0, -1, BOUNDS.pageLimit + 1, 1.5, Number.NaN])('a page of %d jobs is refused', async (limit) => {
  expect(await rejection(() => listOf(1).page(limit))).toMatchObject({
    code: 'NUMBER_INVALID',
    field: 'limit',
  })
})
