/**
 * Errors grouped by fingerprint, and bulk actions on the jobs of one group or on jobs given by id. Runs on
 * both stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { bulkJob, Dead, defineJob, type JobContext } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const SECOND = 1_000

/** A job that ends as its payload says. */
const ending = (kind: string, queue: string) =>
  defineJob({
    kind,
    queue,
    maxAttempts: 2,
    backoff: { base: '1h', max: '1h', jitter: 'none' },
    run({ payload }: JobContext<string>) {
      if (payload.startsWith('dead')) throw new Dead(payload)
      if (payload !== 'well') throw new Error(payload)
    },
  })
const job = ending('a', 'mail')
const other = ending('b', 'other')
/** Fails in the function that the payload names. */
const named = defineJob({
  kind: 'named',
  maxAttempts: 1,
  run({ payload: { where, text } }: JobContext<{ where: string; text: string }>) {
    if (where === 'one') one(text)
    if (where === 'two') two(text)
    throw new Dead(text)
  },
})
function one(text: string): void {
  throw new Error(`${text} ${text}${text}`)
}
function two(text: string): void {
  throw new Error(text)
}
const LETTERS = 'gklmnprst'.split('')
const HOUR = 3_600_000
const UNKNOWN = '00000000-0000-7000-8000-000000000000'

async function scene(mill: TestMill): Promise<Record<'last' | 'fails' | 'also', string>> {
  await mill.enqueue(job, 'dead: no user 7')
  await mill.enqueue(other, 'dead: no user 7')
  await mill.drain()
  await mill.platform.advance(SECOND)
  await mill.enqueue(job, 'dead: no user 1234')
  const fails = await mill.enqueue(job, 'timeout of "x"')
  await mill.enqueue(job, 'well')
  await mill.enqueue(job, 'well', { delay: '2h' })
  await mill.drain()
  await mill.platform.advance(SECOND)
  const also = await mill.enqueue(job, 'timeout of "y"')
  const last = await mill.enqueue(job, 'dead: no user 8', { queue: 'other' })
  await mill.drain()
  return { last: last.id, fails: fails.id, also: also.id }
}

describe.each(subjects)('errors on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('errors of one kind that differ only in variable parts are one group, with times and counts', async () => {
    const mill = await create({ jobs: [job, other] })
    const { last, also } = await scene(mill)
    const { groups, looked, complete, from, bucketMs } = await mill.errors()
    expect([looked, complete]).toEqual([6, true])
    expect(groups.map(({ kind, shape, dead, failing }) => [kind, shape, dead, failing])).toEqual([
      ['a', 'Dead: dead: no user <n>', 3, 0],
      ['a', 'Error: timeout of <text>', 0, 2],
      ['b', 'Dead: dead: no user <n>', 1, 0],
    ])
    const [group, failing] = groups
    expect(group).toMatchObject({
      text: 'Dead: dead: no user',
      queues: ['mail', 'other'],
      example: { id: last, error: 'Dead: dead: no user 8' },
      firstAt: from,
    })
    expect((group?.lastAt ?? 0) - (group?.firstAt ?? 0)).toBeGreaterThanOrEqual(2 * SECOND)
    expect(failing?.example.id).toBe(also)
    // The series counts each job in the bucket of its time.
    expect(group?.over).toHaveLength(24)
    expect(group?.over.map(({ at }) => at)).toEqual(
      Array.from({ length: 24 }, (_, n) => (from ?? 0) + n * bucketMs),
    )
    const filled = group?.over.flatMap(({ jobs }, n) => (jobs === 0 ? [] : [[n, jobs]]))
    expect(filled).toEqual([
      [0, 1],
      [11, 1],
      [23, 1],
    ])
    const { jobs } = await mill.list({ errorText: group?.text ?? '', kind: 'a' })
    expect(jobs).toHaveLength(3)
  })

  test('groups can be filtered by queue and kind, and exclude jobs that no longer fail', async () => {
    const mill = await create({ jobs: [job, other] })
    const none = { groups: [], total: 0, looked: 0, complete: true, from: null, bucketMs: 0 }
    expect(await mill.errors()).toEqual(none)
    const { fails } = await scene(mill)
    const kinds = async (query: object): Promise<unknown[]> =>
      (await mill.errors(query)).groups.map(({ kind, dead, failing }) => [kind, dead, failing])
    expect(await kinds({ kind: 'b' })).toEqual([['b', 1, 0]])
    expect(await kinds({ queue: 'other' })).toEqual([
      ['a', 1, 0],
      ['b', 1, 0],
    ])
    expect(await kinds({ queue: 'nowhere' })).toEqual([])
    expect(await rejection(() => mill.errors({ kinds: 'a' } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'query.kinds',
    })
    await mill.pause('mail')
    await mill.runNow(fails)
    expect(await kinds({ queue: 'mail' })).toEqual([
      ['a', 0, 2],
      ['a', 2, 0],
    ])
    await mill.cancel(fails)
    expect(await kinds({ queue: 'mail' })).toEqual([
      ['a', 2, 0],
      ['a', 0, 1],
    ])
    expect(await mill.errors({ kind: 'a' })).toMatchObject({ looked: 4, complete: true })
  })

  test('a failed job that is ready again is found behind many jobs that never ran', async () => {
    const mill = await create({ jobs: [job, other] })
    const { fails } = await scene(mill)
    await mill.pause('mail')
    await mill.runNow(fails)
    await mill.enqueueMany(
      job,
      Array.from({ length: 1_500 }, () => ({ payload: 'well', queue: 'nowhere', priority: -1 })),
    )
    expect(await mill.errors({ kind: 'a' })).toMatchObject({
      groups: [{ dead: 3 }, { failing: 2 }],
      looked: 5,
      complete: true,
    })
    // Without a filter, fewer jobs are read.
    expect(await mill.errors()).toMatchObject({ looked: 5, complete: false })
  })

  test('groups can be searched by text and sorted, and report where the application failed', async () => {
    const mill = await create({ jobs: [job, other] })
    await scene(mill)
    const shapes = async (query: object): Promise<unknown[]> =>
      (await mill.errors(query)).groups.map(({ kind, shape }) => [kind, shape])
    const [dead, failing, last] = [
      ['a', 'Dead: dead: no user <n>'],
      ['a', 'Error: timeout of <text>'],
      ['b', 'Dead: dead: no user <n>'],
    ]
    expect(await shapes({ text: 'USER 1234' })).toEqual([dead])
    expect(await shapes({ text: 'nothing' })).toEqual([])
    expect(await shapes({ sort: 'firstAt' })).toEqual([failing, dead, last])
    expect(await shapes({ sort: 'lastAt', kind: 'a' })).toEqual([dead, failing])
    const { groups } = await mill.errors({ kind: 'a' })
    expect(groups.map(({ frame }) => frame)).toEqual([null, 'run (errors.test.ts)'])
    expect(await mill.errors({ fingerprint: groups[1]?.fingerprint ?? '' })).toMatchObject({
      total: 1,
      groups: [{ failing: 2 }],
    })
    for (const query of [{ text: '' }, { sort: 'kind' }, { fingerprint: 'x' }, { fingerprint: '' }])
      expect(await rejection(() => mill.errors(query as object))).toMatchObject({ code: 'OPTION_INVALID' })
  })

  test('the first failure of a group survives a retry', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, 'dead: no user 7')
    await mill.drain()
    const [before] = (await mill.errors()).groups
    await mill.platform.advance(HOUR)
    await mill.bulk.run('retry', { fingerprint: before?.fingerprint ?? '' })
    await mill.drain()
    const [after] = (await mill.errors()).groups
    expect(after?.firstAt).toBe(before?.firstAt)
    expect((after?.lastAt ?? 0) - (before?.lastAt ?? 0)).toBeGreaterThanOrEqual(HOUR)
  })

  test('more than 20 groups with the class and the start or the frame in common are folded into one', async () => {
    const mill = await create({ jobs: [named, job] })
    const words = LETTERS.flatMap((one) => LETTERS.map((two) => `${one}${two}a${two}${one}o`)).slice(0, 25)
    const enqueue = (where: string, texts: readonly string[]): Promise<unknown> =>
      mill.enqueueMany(
        named,
        texts.map((text) => ({ payload: { where, text } })),
      )
    await enqueue('one', words.slice(0, 20))
    await mill.enqueue(job, 'dead: no user 7')
    await mill.drain()
    expect(await mill.errors({ kind: 'named' })).toMatchObject({ total: 20 })
    await mill.platform.advance(SECOND)
    await enqueue('one', words.slice(20))
    await enqueue('two', ['other words'])
    await mill.drain()

    const { groups, total } = await mill.errors()
    expect(total).toBe(3)
    expect(groups.map(({ dead, folded, frame }) => [dead, folded, frame])).toEqual([
      [25, 25, 'one (errors.test.ts)'],
      [1, 0, 'two (errors.test.ts)'],
      [1, 0, null],
    ])
    const [folded] = groups
    expect(folded).toMatchObject({ kind: 'named', shape: 'Error: …', text: 'Error:' })
    const inside = await mill.errors({ fingerprint: folded?.fingerprint ?? '' })
    expect(inside.groups.map((group) => [group.dead, group.folded])).toEqual(words.map(() => [1, 0]))
    expect((await mill.errors({ text: words[3] ?? '' })).groups).toMatchObject([{ folded: 25 }])
    expect(await mill.errors({ fingerprint: folded?.fingerprint ?? '', text: words[3] ?? '' })).toMatchObject(
      {
        total: 1,
      },
    )
    // Also jobs that failed since the report.
    await enqueue('one', ['and one more'])
    await mill.drain()
    expect(await mill.bulk.run('delete', { fingerprint: folded?.fingerprint ?? '' })).toMatchObject({
      changed: 26,
    })
    expect(await mill.errors({ kind: 'named' })).toMatchObject({ total: 1 })

    // By the start of the message, wherever it was thrown.
    await enqueue(
      'none',
      words.map((word) => `could not deliver the newsletter of today to ${word}: ${word}`),
    )
    await mill.drain()
    const [byStart] = (await mill.errors({ kind: 'named' })).groups
    expect(byStart).toMatchObject({
      folded: 25,
      shape: 'Dead: could not deliver the newsletter of today to …',
    })
    expect(await mill.bulk.preview('retry', { fingerprint: byStart?.fingerprint ?? '' })).toMatchObject({
      jobs: 25,
    })
  })

  test('a bulk action by fingerprint changes the jobs of that error and no others', async () => {
    const mill = await create({ jobs: [job, other] })
    const { fails } = await scene(mill)
    const [dead, failing] = (await mill.errors()).groups.map((group) => group.fingerprint)
    expect(await mill.bulk.preview('retry', { fingerprint: dead ?? '' })).toEqual({
      jobs: 3,
      byState: { dead: 3 },
    })
    expect(await mill.bulk.preview('retry', { fingerprint: dead ?? '', queue: 'other' })).toMatchObject({
      jobs: 1,
    })
    expect(await mill.bulk.preview('delete', { fingerprint: '0'.repeat(16) })).toMatchObject({ jobs: 0 })
    expect(await mill.bulk.run('cancel', { fingerprint: failing ?? '' })).toMatchObject({ changed: 2 })
    expect(await mill.get(fails)).toMatchObject({ state: 'cancelled' })
    expect(await mill.bulk.run('delete', { fingerprint: dead ?? '' })).toEqual({
      looked: 3,
      changed: 3,
      refused: 0,
    })
    expect((await mill.errors()).groups).toMatchObject([{ kind: 'b', dead: 1 }])
    expect(
      await rejection(() => mill.bulk.run('cancel', { fingerprint: dead ?? '', state: 'running' })),
    ).toMatchObject({ code: 'OPTION_INVALID', field: 'filter.state' })
    expect(await rejection(() => mill.bulk.preview('retry', { fingerprint: 'x' }))).toMatchObject({
      field: 'filter.fingerprint',
    })
  })

  test('a bulk action by ids changes those jobs once each, and never a bulk job', async () => {
    const acts = bulkJob(() => mill)
    const mill: TestMill = await create({ jobs: [job, acts] })
    const jobs = await mill.enqueueMany(
      job,
      Array.from({ length: 150 }, (_, n) => ({
        payload: n === 0 ? 'dead' : 'well',
        delay: n === 0 ? 0 : '1h',
      })),
    )
    const act = await mill.enqueue('jobmill.bulk', { act: 'run-now', filter: { ids: [jobs[1]?.id] } })
    await mill.drain()
    expect(await mill.get(act.id)).toMatchObject({ result: { looked: 1, changed: 1, refused: 0 } })
    const ids = [...jobs.map(({ id }) => id.toUpperCase()), jobs[2]?.id ?? '', UNKNOWN, act.id]
    expect(await mill.bulk.preview('delete', { ids })).toEqual({
      jobs: 150,
      byState: { done: 1, dead: 1, scheduled: 148 },
    })
    expect(await mill.bulk.preview('delete', { ids, state: 'dead' })).toMatchObject({ jobs: 1 })
    const looked: number[] = []
    const report = await mill.bulk.run('cancel', { ids }, { progress: (n) => looked.push(n) })
    expect([report, looked]).toEqual([{ looked: 148, changed: 148, refused: 0 }, [98, 148]])
    expect(await mill.bulk.run('delete', { ids })).toMatchObject({ changed: 150 })
    expect(await mill.get(act.id)).toMatchObject({ state: 'done' })
  })

  test('invalid ids are refused before any change', async () => {
    const mill = await create({ jobs: [job] })
    const refused = async (filter: object): Promise<unknown> =>
      (await rejection(() => mill.bulk.run('delete', filter))).field
    expect(await refused({ ids: [] })).toBe('filter.ids')
    expect(await refused({ ids: Array.from({ length: 1_001 }, () => UNKNOWN) })).toBe('filter.ids')
    expect(await refused({ ids: [UNKNOWN, 'x'] })).toBe('filter.ids[1]')
    expect(await refused({ ids: [UNKNOWN], queue: 'mail' })).toBe('filter.queue')
    expect(await refused({ ids: [UNKNOWN], fingerprint: '0'.repeat(16) })).toBe('filter.fingerprint')
    expect(await refused({ ids: 'x' })).toBe('filter.ids')
    expect(await refused({ ids: [UNKNOWN], state: 'done' }).catch(() => 'none')).toBe('none')
  })
})
