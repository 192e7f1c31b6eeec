/**
 * What an operator can do to a job in each state, and the error for each refused operation. Runs on both
 * stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext } from '../../src/index.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const job = defineJob({
  kind: 'a',
  async run({ payload, signal }: JobContext<'done' | 'dead' | 'hold'>) {
    if (payload === 'dead') throw new Dead('no')
    if (payload === 'hold')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  },
})

const sorted = (page: { readonly jobs: readonly { readonly id: string }[] }): string[] =>
  page.jobs.map(({ id }) => id).toSorted()

describe.each(subjects)('operating jobs on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('retry, run now, delete and cancel return what they did, or what to do instead', async () => {
    const mill = await create({ jobs: [job] })
    const done = await mill.enqueue(job, 'done')
    const dead = await mill.enqueue(job, 'dead', { dedupeKey: 'k' })
    const running = await mill.enqueue(job, 'hold')
    const later = await mill.enqueue(job, 'done', { delay: '1h' })
    await mill.platform.settled()

    expect(await mill.retry(done.id)).toMatchObject({
      verdict: 'refused',
      hint: expect.stringContaining('enqueue a copy') as string,
    })
    expect(await mill.runNow(dead.id)).toMatchObject({
      verdict: 'refused',
      hint: 'The job has ended: retry it',
    })
    expect(await mill.runNow(running.id)).toMatchObject({
      verdict: 'refused',
      hint: 'The job is already running',
    })
    expect(await mill.delete(running.id)).toMatchObject({
      verdict: 'refused',
      hint: 'The job is running: cancel it first',
    })
    const holder = await mill.enqueue(job, 'hold', { dedupeKey: 'k', delay: '1h' })
    expect(await mill.retry(dead.id)).toMatchObject({
      verdict: 'refused',
      hint: expect.stringContaining(holder.id) as string,
    })

    expect(await mill.runNow(later.id)).toMatchObject({ verdict: 'changed', state: 'ready' })
    expect(await mill.cancel(running.id)).toMatchObject({ verdict: 'changed', state: 'running' })
    expect(await mill.cancel(done.id)).toMatchObject({
      verdict: 'refused',
      state: 'done',
      hint: 'The job has ended: delete it if it is no longer needed',
    })
    await mill.drain()
    expect(await mill.get(later.id)).toMatchObject({ state: 'done' })
    expect(await mill.delete(running.id)).toMatchObject({ verdict: 'changed', state: null })
    expect(await mill.get(running.id)).toBeNull()
    const { id } = running
    for (const act of ['cancel', 'retry', 'runNow', 'delete'] as const)
      expect(await mill[act](id)).toEqual({ id, verdict: 'unknown', state: null })
  })

  test('N10 lists include the last error, and payloads on request, with one more statement per page', async () => {
    const statements: string[] = []
    const mill = await create({ jobs: [job] }, (store) => ({
      ...store,
      list: (...args) => (statements.push('list'), store.list(...args)),
      get: (...args) => (statements.push('get'), store.get(...args)),
      results: (...args) => (statements.push('results'), store.results(...args)),
    }))
    await mill.enqueueMany(job, [
      { payload: 'dead', metadata: { n: 1 } },
      { payload: 'dead' },
      { payload: 'done' },
    ])
    const waits = await mill.enqueue(job, 'done', { delay: '1h' })
    await mill.drain()
    await mill.cancel(waits.id, { reason: 'not wanted' })
    statements.length = 0
    const dead = await mill.list({ state: 'dead' })
    expect(dead.jobs.map(({ error }) => error?.split('\n')[0])).toEqual(['Dead: no', 'Dead: no'])
    expect(dead.jobs[0]).not.toHaveProperty('payload')
    expect(statements).toEqual(['list', 'results'])
    statements.length = 0
    const full = await mill.list(
      { state: ['dead', 'cancelled'] },
      { include: ['payload', 'metadata', 'result'] },
    )
    expect(full.jobs.map(({ payload, error }) => [payload, error?.split('\n')[0]])).toEqual([
      ['dead', 'Dead: no'],
      ['dead', 'Dead: no'],
      ['done', 'not wanted'],
    ])
    expect(full.jobs.find(({ metadata }) => metadata !== null)?.metadata).toEqual({ n: 1 })
    expect(statements).toEqual(['list', 'list', 'get'])
    expect((await mill.list({ state: 'done' })).jobs).toMatchObject([{ error: null }])
    expect(await rejection(() => mill.list({}, { include: ['secret'] as never }))).toMatchObject({
      field: 'page.include[0]',
    })
  })

  test('S1 a page with payloads ends early at 4 MiB, and its cursor continues there', async () => {
    const reads: number[] = []
    const large = defineJob({ kind: 'large', run: ({ payload }: JobContext<string>) => payload.length })
    const mill = await create({ jobs: [large] }, (store) => ({
      ...store,
      get: (ids) => (reads.push(ids.length), store.get(ids)),
    }))
    const text = 'x'.repeat(500_000)
    const made = await mill.enqueueMany(
      large,
      Array.from({ length: 30 }, (_, n) => ({ payload: text, ...(n < 15 && { delay: '1h' }) })),
    )
    await mill.drain()
    for (const filter of [{}, { state: ['scheduled', 'done'] as const }]) {
      const sizes: number[] = []
      const ids: string[] = []
      let cursor: string | undefined
      do {
        const page = await mill.list(filter, { limit: 500, include: ['payload'], cursor })
        expect(page.jobs.every(({ payload }) => payload === text)).toBe(true)
        expect(page.complete).toBe(true)
        sizes.push(page.jobs.length)
        ids.push(...page.jobs.map(({ id }) => id))
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
      // 8 * 500 kB is less than 4 MiB.
      expect(sizes).toEqual([8, 8, 8, 6])
      expect(ids.toSorted()).toEqual(made.map(({ id }) => id).toSorted())
    }
    expect(Math.max(...reads)).toBeLessThanOrEqual(10)
    expect((await mill.list({}, { limit: 500 })).jobs).toHaveLength(30)
  })

  test('S1 an audit entry keeps at most 4,096 characters of each value, and marks it as shortened', async () => {
    const mill = await create({ jobs: [job] })
    const entry = { who: 'ada', role: 'admin', what: 'schedules.change', target: 'nightly' }
    const before = { payload: 'x'.repeat(200_000) }
    await mill.audit.write({ ...entry, before, after: { payload: 'short' } })
    await mill.audit.write({ ...entry, before: undefined, after: '\u{1f600}'.repeat(5_000) })
    const [second, first] = (await mill.audit.list()).entries
    const start = `{"payload":"${'x'.repeat(4_096)}`.slice(0, 4_095)
    expect(first).toMatchObject({ before: { shortened: `${start}…` }, after: { payload: 'short' } })
    expect(second).toMatchObject({ after: { shortened: `"${'\u{1f600}'.repeat(2_047)}…` } })
    expect(second).not.toHaveProperty('before')
  })

  test('D1 an audit entry with characters or values that no database stores is written, and so are the others', async () => {
    const mill = await create({ jobs: [job] })
    const entry = { who: 'ada', role: 'admin', what: 'jobs.cancel', target: 'x' }
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    await Promise.all([
      mill.audit.write({ ...entry, before: null, after: { reason: 'a\u0000b \ud800', 'k\u0000': 1 } }),
      mill.audit.write({ ...entry, who: 'b\u0000', before: circular, after: 1n }),
      mill.audit.write({ ...entry, before: null, after: 'plain' }),
    ])
    const { entries } = await mill.audit.list()
    expect(entries).toMatchObject([
      { after: 'plain' },
      { who: 'b\ufffd', before: { shortened: expect.stringContaining('not JSON') as string } },
      { after: { reason: 'a\ufffdb \ufffd', 'k\ufffd': 1 } },
    ])
  })

  test('A filters accept several queues, kinds and states, and retrying, in lists, counts and bulk actions', async () => {
    const flaky = defineJob({
      kind: 'flaky',
      maxAttempts: 3,
      backoff: { fixed: '1m' },
      run: ({ attempt }) => {
        if (attempt === 1) throw new Error('try later')
      },
    })
    const queues = { one: {}, two: {}, three: {} }
    const mill = await create({ jobs: [job, flaky], queues, serve: Object.keys(queues) })
    const ids: string[] = []
    for (const queue of Object.keys(queues)) {
      await mill.enqueue(job, 'dead', { queue })
      ids.push((await mill.enqueue(flaky, null, { queue })).id)
      await mill.enqueue(flaky, null, { queue, delay: '2h' })
    }
    await mill.drain()

    expect(sorted(await mill.list({ state: 'retrying' }))).toEqual(ids.toSorted())
    expect(await mill.count({ state: 'retrying', queue: ['one', 'two'] })).toEqual({
      jobs: 2,
      byState: { retrying: 2 },
    })
    expect(await mill.count({ state: ['dead', 'scheduled'], queue: ['one', 'three'] })).toEqual({
      jobs: 6,
      byState: { dead: 2, scheduled: 4 },
    })
    // For every page size, the pages contain each job once, with the states in the given order.
    for (const limit of [1, 2, 5, 50]) {
      const states: string[] = []
      let cursor: string | undefined
      do {
        const page = await mill.list({ state: ['retrying', 'dead'], kind: ['a', 'flaky'] }, { limit, cursor })
        states.push(...page.jobs.map(({ state }) => state))
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
      expect(states).toEqual([...Array<string>(3).fill('scheduled'), ...Array<string>(3).fill('dead')])
    }
    expect(await rejection(() => mill.list({ state: [] }))).toMatchObject({ field: 'filter.state' })
    expect(await rejection(() => mill.list({ queue: [] }))).toMatchObject({ field: 'filter.queue' })

    expect(await mill.bulk.preview('run-now', { state: 'retrying', queue: ['one', 'two'] })).toMatchObject({
      jobs: 2,
    })
    expect(await mill.bulk.run('run-now', { state: 'retrying', queue: ['one', 'two'] })).toMatchObject({
      changed: 2,
    })
    await mill.drain()
    expect(await mill.count({ state: 'done' })).toMatchObject({ jobs: 2 })
    expect(await mill.bulk.preview('delete', { state: ['dead', 'done'] })).toMatchObject({ jobs: 5 })
    const now = mill.clock.now()
    await mill.clock.advance('1m')
    const past = { state: ['done', 'dead'], kind: ['flaky', 'a'], endedBefore: now + 1 } as const
    expect(await mill.bulk.run('delete', past)).toMatchObject({ changed: 5 })
    expect(await mill.count({ state: ['done', 'dead'] })).toMatchObject({ jobs: 1 })
  })

  test('N20 cancel takes the message of an error as the reason, and refuses objects that are not options', async () => {
    const mill = await create({ jobs: [job] })
    const cancelled = async (options: unknown): Promise<string | null | undefined> => {
      const { id } = await mill.enqueue(job, 'done', { delay: '1h' })
      await mill.cancel(id, options as never)
      return (await mill.get(id))?.error
    }
    expect(await cancelled(new TypeError('customer left'))).toBe('customer left')
    expect(await cancelled(AbortSignal.abort().reason)).toBe('This operation was aborted')
    expect(await cancelled(new Error())).toBe('cancelled by the application')
    for (const options of [new Date(0), new Map([['reason', 'x']]), new Set(['x']), /x/, Promise.resolve()]) {
      expect(await rejection(() => cancelled(options))).toMatchObject({
        code: 'OPTION_INVALID',
        field: 'options',
      })
    }
  })

  test('invalid input is refused by name', async () => {
    const mill = await create({ jobs: [job] })
    expect(await rejection(() => mill.get('7'))).toMatchObject({ code: 'ID_INVALID', field: 'id' })
    for (const act of [
      (name: string) => mill.pause(name),
      (name: string) => mill.resume(name),
      (name: string) => mill.changeQueue(name, { workers: 2 }),
    ]) {
      const unknown = { code: 'QUEUE_UNKNOWN', field: 'queue' }
      expect(await rejection(() => act('nowhere'))).toMatchObject({
        ...unknown,
        value: '"nowhere"',
        fix: expect.stringMatching(/^Use a name from mill\.queues\(\)/) as string,
      })
      const fix = 'Did you mean "default"?'
      expect(await rejection(() => act('defualt'))).toMatchObject({ ...unknown, value: '"defualt"', fix })
    }
    const early = await rejection(() => mill.changeQueue('default', { workers: 5, backoff: { max: '9s' } }))
    expect(early).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'queue.backoff.max',
      message:
        'queue.backoff.max: must not be shorter than queue.backoff.base, which is 10s (got 9s). Raise max or lower base.',
    })
    expect(await rejection(() => mill.changeQueue('default', { wokers: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'queue.wokers',
    })
    expect(await rejection(() => mill.enqueue(job, 'done', { dely: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'job.dely',
    })
    expect(
      await rejection(() => mill.enqueue(job, 'done', { dedupeKey: 'a', dedupe: { key: 'b' } })),
    ).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'job.dedupeKey',
    })
    expect(await rejection(() => mill.enqueueMany(job, { payload: 'done' } as never))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'items',
    })
    expect(await rejection(() => mill.enqueueMany(job, ['done'] as never))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'items[0]',
    })
    expect(await rejection(() => mill.enqueue({ kind: 'a' } as never, null))).toMatchObject({ field: 'job' })
    expect(await rejection(() => mill.enqueue('no good', null))).toMatchObject({
      code: 'NAME_INVALID',
      field: 'job.kind',
    })
  })

  test('lifecycle events are counted by type, with or without listeners', async () => {
    const mill = await create({ jobs: [job] })
    await mill.enqueueMany(job, [{ payload: 'done' }, { payload: 'done' }, { payload: 'dead' }])
    await mill.drain()
    expect(mill.eventCounts.emitted).toMatchObject({ enqueued: 3, started: 3, finished: 2, dead: 1 })
  })
})
