/** Why a job is not running: each reason, when it applies and when it does not. Runs on both stores. */
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, Throttled } from '../../src/index.ts'
import { REASONS } from '../../src/internal.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { subjects } from './stores.ts'

const job = defineJob({
  kind: 'a',
  maxAttempts: 3,
  backoff: { fixed: '1m' },
  async run({ payload, signal }: JobContext<string>) {
    if (payload === 'throw') throw new Error('no')
    if (payload === 'throttle') throw new Throttled({ retryAfter: '30s' })
    if (payload === 'hold')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  },
})

const reportedReasons = new Set<string>()

async function reasons(mill: TestMill, id: string): Promise<string[]> {
  const why = await mill.why(id)
  for (const one of why?.reasons ?? []) reportedReasons.add(one.why)
  return (why?.reasons ?? []).map((one) => one.why)
}

describe.each(subjects)('why a job is not running, on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('it is due later, and after a failed attempt', async () => {
    const mill = await create({ jobs: [job] })
    const later = await mill.enqueue(job, '', { delay: '90s' })
    expect(await mill.why(later.id)).toEqual({
      state: 'scheduled',
      reasons: [
        { why: 'due-later', message: 'Due in 1 min 30 s', until: mill.platform.now() + 90_000, job: null },
      ],
    })
    const debounced = await mill.enqueue(job, '', { debounce: { key: 'k', wait: '4s' } })
    expect((await mill.why(debounced.id))?.reasons[0]?.message).toBe(
      'Due in 4 s, because it is debounced. Another enqueue with its key starts the wait again',
    )
    const failed = await mill.enqueue(job, 'throw')
    await mill.platform.settled()
    expect((await mill.why(failed.id))?.reasons[0]?.message).toBe(
      'Due in 1 min, because the last attempt failed',
    )
    reportedReasons.add('due-later')
  })

  test('its group has no free slot', async () => {
    const mill = await create({ jobs: [job], queues: { default: { groups: { concurrency: 1 } } } })
    const first = await mill.enqueue(job, 'hold', { group: 'acme' })
    await mill.platform.settled()
    const second = await mill.enqueue(job, '', { group: 'acme' })
    await mill.platform.settled()
    expect((await mill.why(second.id))?.reasons[0]?.message).toBe(
      'Group acme: 1 of 1 running, 1 job of it waits',
    )
    expect(await reasons(mill, second.id)).toEqual(['group'])
    await mill.cancel(first.id)
  })

  test('it waits for child jobs', async () => {
    const page = defineJob({ kind: 'page', run: () => null })
    const book = defineJob({
      kind: 'book',
      run: ({ step }) => step.children('pages', page, [null, null], { delay: '1h' }),
    })
    const mill = await create({ jobs: [book, page] })
    const { id } = await mill.enqueue(book, null)
    await mill.platform.settled()
    const [step] = (await mill.steps(id)) ?? []
    const first = step?.children[0]?.id ?? ''
    const message = `Step "pages" waits for 2 of its 2 child jobs, such as ${first}`
    expect((await mill.why(id))?.reasons).toEqual([{ why: 'step', message, until: null, job: first }])
  })

  test('it waits in a step: for a time, for an event, or for either', async () => {
    const waits = defineJob({
      kind: 'waits',
      run: ({ step }) =>
        Promise.all([step.sleep('nap', '1h'), step.waitForEvent(['paid', 'refused'], { timeout: '1d' })]),
    })
    const mill = await create({ jobs: [waits] })
    const { id } = await mill.enqueue(waits, null)
    await mill.platform.settled()
    const now = mill.platform.now()
    expect((await mill.why(id))?.reasons).toEqual([
      { why: 'step', message: 'Step "nap" sleeps for another 1 h', until: now + 3_600_000, job: null },
      {
        why: 'step',
        message: 'Step "paid or refused" waits for the event "paid" or "refused", for at most another 1 d',
        until: now + 86_400_000,
        job: null,
      },
    ])
    expect(await reasons(mill, id)).toEqual(['step', 'step'])
  })

  test('the job that holds its order lock has not ended, and run now says so', async () => {
    const mill = await create({ jobs: [job] })
    const first = await mill.enqueue(job, 'hold', { orderKey: 'k' })
    const second = await mill.enqueue(job, '', { orderKey: 'k' })
    const later = await mill.enqueue(job, '', { orderKey: 'k', delay: '1h' })
    await mill.platform.settled()
    expect(await reasons(mill, second.id)).toEqual(['order'])
    expect((await mill.why(second.id))?.reasons).toEqual([
      {
        why: 'order',
        message: `Blocked by job ${first.id}, which has the same order key "k" and is running`,
        until: null,
        job: first.id,
      },
    ])
    const blocked = {
      state: 'scheduled',
      holder: first.id,
      hint: `The job waits for its order key: job ${first.id} must end first`,
    }
    expect(await mill.runNow(second.id)).toEqual({ id: second.id, verdict: 'unchanged', ...blocked })
    expect(await mill.runNow(later.id)).toEqual({ id: later.id, verdict: 'changed', ...blocked })
    await mill.cancel(first.id)
    await mill.drain()
    expect(await mill.get(later.id)).toMatchObject({ state: 'done' })
  })

  test('the first job of an order key does not wait for the order lock while it is free', async () => {
    const mill = await create({ jobs: [job], start: false })
    const { id } = await mill.enqueue(job, '', { orderKey: 'k' })
    expect(await mill.get(id)).toMatchObject({ waitsForOrder: true })
    expect(await reasons(mill, id)).toEqual(['queue-without-worker'])
    expect(await mill.runNow(id)).toEqual({ id, verdict: 'unchanged', state: 'scheduled' })
  })

  test('its queue is paused, has no workers, or is cooling down, and other jobs are ahead', async () => {
    const mill = await create({ jobs: [job] })
    const first = await mill.enqueue(job, 'throttle')
    await mill.platform.settled()
    const second = await mill.enqueue(job, '')
    expect(await reasons(mill, first.id)).toEqual(['cooling'])
    expect((await mill.why(first.id))?.reasons[0]).toMatchObject({
      message: 'Queue default is cooling down for another 30 s',
      until: mill.platform.now() + 30_000,
    })
    await mill.changeQueue('default', { paused: true, workers: 0 })
    expect(await reasons(mill, second.id)).toEqual(['paused', 'no-workers', 'cooling', 'behind'])
    expect((await mill.why(second.id))?.reasons.at(-1)?.message).toBe(
      '1 ready job is ahead of it in queue default',
    )
  })

  test('no process serves its queue or its kind', async () => {
    const mill = await create({ jobs: [job] })
    const queue = await mill.enqueue('a', '', { queue: 'nowhere' })
    const kind = await mill.enqueue('b', '')
    await mill.platform.settled()
    expect(await reasons(mill, queue.id)).toEqual(['queue-without-worker'])
    expect(await reasons(mill, kind.id)).toEqual(['kind-without-worker'])
  })

  test('the limit of its queue is empty, held, or drained', async () => {
    const mill = await create({
      jobs: [job],
      limits: { slow: { rate: 1, per: '10m' }, one: { concurrency: 1 } },
      queues: { default: { limit: 'slow' } },
    })
    await mill.enqueue(job, '')
    await mill.platform.settled()
    const second = await mill.enqueue(job, '')
    await mill.platform.settled()
    expect((await mill.why(second.id))?.reasons).toEqual([
      {
        why: 'limit',
        message: 'Limit slow is empty for another 10 min',
        until: mill.platform.now() + 600_000,
        job: null,
      },
    ])
    await mill.limits.drain('slow', { retryAfter: '1h' })
    expect((await mill.why(second.id))?.reasons[0]?.message).toBe('Limit slow grants nothing for another 1 h')
    await mill.enqueue(job, 'hold', { priority: -1 })
    await mill.changeQueue('default', { limit: 'one' })
    await mill.platform.settled()
    expect((await mill.why(second.id))?.reasons[0]?.message).toBe('All permits of limit one are in use')
    reportedReasons.add('limit')
  })

  test('a limit that its handler acquires was empty', async () => {
    const draws = defineJob({
      kind: 'draws',
      run: ({ limit }: JobContext) => limit.acquire('smtp').then(() => 1),
    })
    const mill = await create({ jobs: [draws], limits: { smtp: { rate: 1, per: '1h', burst: 1 } } })
    await (await mill.enqueue(draws, null)).result()
    const second = await mill.enqueue(draws, null)
    await mill.clock.advance('2s')
    const why = await mill.why(second.id)
    expect(why).toMatchObject({ state: 'scheduled', reasons: [{ why: 'due-later' }] })
    expect(why?.reasons[0]?.message).toMatch(
      /^Due in \d+ .*, because the last attempt was snoozed: limit smtp is empty$/,
    )
    expect(why?.reasons[0]?.until).toBe((await mill.get(second.id))?.dueAt)
  })

  test('a limit that its handler acquires was empty for a key', async () => {
    const draws = defineJob({
      kind: 'draws',
      run: ({ limit }: JobContext) => limit.acquire('chat', { key: 'bot 7' }).then(() => 1),
    })
    const limits = { chat: { rate: 1, per: '1h', burst: 1, perKey: true } } as const
    const mill = await create({ jobs: [draws], limits })
    await (await mill.enqueue(draws, null)).result()
    const second = await mill.enqueue(draws, null)
    await mill.clock.advance('2s')
    expect((await mill.why(second.id))?.reasons[0]?.message).toMatch(
      /^Due in \d+ .*, because the last attempt was snoozed: limit chat is empty for key "bot 7"$/,
    )
  })

  test('all workers are busy, it is next, it runs, or it has ended', async () => {
    const mill = await create({ jobs: [job], queues: { default: { workers: 1 } } })
    const running = await mill.enqueue(job, 'hold')
    await mill.platform.settled()
    // No process has a handler for this kind, so the job blocks no other job.
    await mill.enqueue('b', '', { priority: -1 })
    const next = await mill.enqueue(job, '')
    expect((await mill.why(next.id))?.reasons).toEqual([
      { why: 'busy', message: 'The only worker of queue default is busy', until: null, job: null },
    ])
    const last = await mill.enqueue(job, '')
    expect(await reasons(mill, last.id)).toEqual(['busy', 'behind'])
    expect((await mill.why(last.id))?.reasons[1]?.message).toBe('1 ready job is ahead of it in queue default')
    // The change is written directly to the store, so no instance has applied it yet.
    await mill.store.queues.change('default', { settings: { workers: 3 }, coolMs: null })
    await mill.store.instances.assign([{ instance: mill.instance.id, queue: 'default', workers: 3 }])
    expect(await reasons(mill, next.id)).toEqual(['next'])
    expect(await mill.why(running.id)).toEqual({ state: 'running', reasons: [] })
    expect(await mill.why('00000000-0000-7000-8000-000000000000')).toBeNull()
  })

  test('it is quarantined after two crashes', async () => {
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, '', { queue: 'other' })
    for (let crash = 0; crash < 2; crash += 1) {
      const instance = mill.platform.id()
      const queues = ['other']
      const about = {
        label: null,
        version: null,
        queues,
        kinds: ['a'],
        onDead: [],
        capacity: 1,
        leaseMs: 1_000,
      }
      await mill.store.instances.register({ id: instance, ...about })
      const request = { instance, queues: [{ queue: 'other', room: 1 }], kinds: ['a'], limit: 1 }
      expect(await mill.store.claim({ ...request, quarantined: 'skip' })).toHaveLength(1)
      await mill.clock.advance('2s')
      await mill.recover()
    }
    expect(await reasons(mill, id)).toEqual(['queue-without-worker', 'quarantined'])
  })
})

test('the tests above cover every reason', () => {
  expect(REASONS.filter((reason) => !reportedReasons.has(reason))).toEqual([])
})
