/** Limits: in handlers, on queues, outside of handlers, and for operators. Runs on both stores. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import {
  checkOptions,
  defineJob,
  jobmill,
  type JobContext,
  type LimitOptions,
  type FullStore,
} from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { testMill } from '../../src/testing/index.ts'
import { attempts, subjects } from './stores.ts'

const SMTP = { smtp: { rate: 50, per: '1m' } } as const

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  )

const ignore = (): void => {}

function warnings() {
  const warned: string[] = []
  const log = { debug: ignore, info: ignore, warn: (text: string) => void warned.push(text), error: ignore }
  return { log, warned }
}

const times = (many: number): { payload: null }[] => Array.from({ length: many }, () => ({ payload: null }))

/** A job that acquires the limit and then records when it ran. */
function drawing(limit: string, kind = 'draw') {
  const instants: number[] = []
  const job = defineJob({
    kind,
    maxAttempts: 1,
    async run({ limit: limits, now, attempt }: JobContext<null>) {
      await limits.acquire(limit)
      instants.push(now())
      return attempt
    },
  })
  return { job, instants }
}

const unknown = (field: string) => ({ code: 'OPTION_UNKNOWN', field })

describe.each(subjects)('P13 on $name: limits of a mill', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('a handler without a token is snoozed until there is one, spends no attempt, and delays no other job', async () => {
    const { job, instants } = drawing('smtp')
    const other = defineJob({ kind: 'other', run: () => 'ran' })
    const mill = await create({ jobs: [job, other], limits: SMTP, queues: { default: { workers: 2 } } })
    const from = mill.clock.now()
    const jobs = await mill.enqueueMany(job, times(10))
    const plain = await mill.enqueue(other, null)
    await mill.clock.advance('1s')
    expect(await plain.result()).toBe('ran')
    await mill.clock.advance('14s')
    expect(await Promise.all(jobs.map(({ id }) => mill.job(id).result()))).toEqual(Array(10).fill(1))
    expect(instants).toHaveLength(10)
    const apart = instants.slice(1).map((at, n) => at - (instants[n] ?? 0))
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(1_200)
    expect(from).toBe(instants[0])
    const outcomes = await Promise.all(
      jobs.map(async ({ id }) => (await attempts(mill, id)).map(([how]) => how)),
    )
    expect(new Set(outcomes.flat())).toEqual(new Set(['snoozed', 'returned']))
  })

  test('a handler with wait: 0 frees its worker at once, and is retried when there is a token', async () => {
    const instants: number[] = []
    const errors: unknown[] = []
    const job = defineJob({
      kind: 'draw',
      maxAttempts: 1,
      async run({ limit, now, attempt }: JobContext<null>) {
        errors.push(await failure(limit.acquire('chat', { wait: '2s' })))
        await limit.acquire('chat', { wait: 0 })
        instants.push(now())
        return attempt
      },
    })
    const other = defineJob({ kind: 'other', run: () => 'ran' })
    const mill = await create({
      jobs: [job, other],
      limits: { chat: { rate: 1, per: '1s' } },
      queues: { default: { workers: 1 } },
    })
    const from = mill.clock.now()
    const jobs = await mill.enqueueMany(job, times(3))
    const plain = await mill.enqueue(other, null)
    // A job that waits for the limit does not occupy the only worker.
    await mill.clock.advance('100ms')
    expect(await plain.result()).toBe('ran')
    await mill.clock.advance('4s')
    expect(await Promise.all(jobs.map(({ id }) => mill.job(id).result()))).toEqual([1, 1, 1])
    expect(instants.map((at) => Math.floor((at - from) / 1_000))).toEqual([0, 1, 2])
    expect(errors[0]).toMatchObject({ code: 'DURATION_INVALID', field: 'options.wait' })
  })

  test('a limited queue is claimed at its rate, and others are not delayed', async () => {
    const instants: number[] = []
    const mail = defineJob({
      kind: 'mail',
      queue: 'mail',
      run: ({ now }: JobContext<null>) => void instants.push(now()),
    })
    const other = defineJob({ kind: 'other', run: () => 'ran' })
    const mill = await create({
      jobs: [mail, other],
      limits: SMTP,
      queues: { mail: { limit: 'smtp' } },
    })
    await mill.enqueueMany(mail, times(60))
    await mill.clock.advance('30s')
    expect(await (await mill.enqueue(other, null)).result()).toBe('ran')
    await mill.clock.advance('30s')
    expect(instants.length).toBeGreaterThanOrEqual(0.95 * 50)
    const apart = instants.slice(1).map((at, n) => at - (instants[n] ?? 0))
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(1_200)
    // Jobs stay in the queue until the limit admits them: no claim is returned or snoozed.
    expect(mill.events.filter(({ type }) => type === 'snoozed' || type === 'released')).toEqual([])
  })

  test('a permit is released when its job ends, and the next job gets it at once', async () => {
    let most = 0
    let now = 0
    const gate = Promise.withResolvers<void>()
    const job = defineJob({
      kind: 'use',
      async run({ limit }: JobContext<null>) {
        await limit.acquire('db')
        most = Math.max(most, (now += 1))
        await gate.promise
        now -= 1
      },
    })
    const mill = await create({ jobs: [job], limits: { db: { concurrency: 1 } } })
    const [first, second] = [await mill.enqueue(job, null), await mill.enqueue(job, null)]
    await mill.clock.advance(300)
    expect(now).toBe(1)
    gate.resolve()
    // The clock does not move: the end of the first job wakes the second.
    await Promise.all([first.result(), second.result()])
    expect(most).toBe(1)
    expect(await mill.limits.list()).toMatchObject([{ name: 'db', held: 0, available: 1 }])
  })

  test('a 429 that drains the limit pauses all jobs of the limit for exactly that long', async () => {
    const instants: number[] = []
    const state = { refuses: true }
    const call = defineJob({
      kind: 'call',
      async run({ limit, now, snooze }: JobContext<null>) {
        await limit.acquire('api')
        instants.push(now())
        if (!state.refuses) return 'sent'
        state.refuses = false
        await limit.drain('api', { retryAfter: '30s' })
        return snooze('30s')
      },
    })
    const mill = await create({ jobs: [call], limits: { api: { rate: 10 } } })
    const from = mill.clock.now()
    const refused = await mill.enqueue(call, null)
    await mill.clock.advance(100)
    const waiting = await mill.enqueue(call, null)
    await mill.clock.advance('29s')
    expect(instants).toEqual([from])
    await mill.clock.advance('5s')
    expect(await Promise.all([refused.result(), waiting.result()])).toEqual(['sent', 'sent'])
    expect(Math.min(...instants.slice(1)) - from).toBe(30_000)
  })

  test('a limit per key delays only jobs with that key, and a 429 drains that key', async () => {
    const sent: string[] = []
    const state = { refuses: true }
    const send = defineJob({
      kind: 'send',
      async run({ limit, payload: key, now, snooze }: JobContext<string>) {
        await limit.acquire('chat', { key, amount: 1 })
        sent.push(`${key} at ${now() - from}`)
        if (key !== 'c' || !state.refuses) return undefined
        state.refuses = false
        await limit.drain('chat', { key, retryAfter: '17s' })
        return snooze('17s')
      },
    })
    const mill = await create({
      jobs: [send],
      limits: { chat: { rate: 1, per: '5s', burst: 1, perKey: true } },
    })
    const from = mill.clock.now()
    const jobs = await mill.enqueueMany(
      send,
      ['a', 'a', 'b', 'c'].map((payload) => ({ payload })),
    )
    await mill.clock.advance('2s')
    expect(sent.toSorted()).toEqual(['a at 0', 'b at 0', 'c at 0'])
    expect(await mill.limits.list()).toMatchObject([{ name: 'chat', available: 1, drainedMs: 0, keys: 3 }])
    await mill.clock.advance('14s')
    expect(sent.slice(3)).toEqual(['a at 5000'])
    await mill.clock.advance('2s')
    expect(sent.slice(4)).toEqual(['c at 17000'])
    await Promise.all(jobs.map(({ id }) => mill.job(id).result()))
    expect(mill.events.filter(({ type }) => type === 'limit-drained')).toMatchObject([
      { limit: 'chat', key: 'c', forMs: 17_000 },
    ])
  })

  test('a missing or superfluous key is refused by name, inside and outside of handlers', async () => {
    const wrong = defineJob({
      kind: 'wrong',
      maxAttempts: 1,
      run: ({ limit, payload }: JobContext<string>) =>
        payload === 'one too many' ? limit.tryAcquire('smtp', { key: 'a' }) : limit.acquire('chat'),
    })
    const limits = { ...SMTP, chat: { rate: 1, perKey: true } }
    const mill = await create({ jobs: [wrong], limits })
    const jobs = [await mill.enqueue(wrong, 'missing'), await mill.enqueue(wrong, 'one too many')]
    const failed = await Promise.all(jobs.map((job) => failure(job.result())))
    expect(failed.map(String)).toMatchObject([
      expect.stringContaining('key: is required: the limit "chat" has a budget per key'),
      expect.stringContaining('key: is not allowed: the limit "smtp" has a single budget'),
    ])
    const conflict = { code: 'OPTION_CONFLICT', field: 'key' }
    expect(await failure(mill.limit('chat').acquire())).toMatchObject(conflict)
    expect(await failure(mill.limit('smtp', { key: 'a' }).tryAcquire())).toMatchObject(conflict)
    expect(await failure(mill.limits.drain('chat'))).toMatchObject(conflict)
    expect(() => mill.limit('chat', { key: '' })).toThrow('key: must be a non-empty string')
    const a = mill.limit('chat', { key: 'a' })
    expect(await a.acquire()).toMatchObject({ limit: 'chat', key: 'a', amount: 1 })
    expect(await a.tryAcquire()).toBeNull()
    await a.drain({ retryAfter: '1m' })
    expect(await mill.limit('chat', { key: 'b' }).tryAcquire(1)).not.toBeNull()
    expect(await mill.limits.change('chat', { rate: 2, perKey: true })).toMatchObject({
      settings: { amount: 2, burst: 2, perKey: true },
    })
    for (const change of [{ perKey: false }, { concurrency: 1 }])
      expect(await failure(mill.limits.change('chat', change))).toMatchObject({
        code: 'OPTION_CONFLICT',
        field: 'limit.perKey',
        fix: 'Create another limit and use that one',
      })
    expect(await failure(mill.changeQueue('default', { limit: 'chat' }))).toMatchObject({
      code: 'OPTION_CONFLICT',
    })
  })

  test('an unknown option of a limit is named, with the option to use instead', async () => {
    const mill = await create({ jobs: [drawing('smtp').job], limits: SMTP })
    const fix = "Use { rate: 9, per: '30s', burst: 9 }"
    const bull = { max: 9, duration: 30_000 } as never
    expect(await failure(mill.limits.create('api', bull))).toMatchObject({ ...unknown('limit.max'), fix })
    expect(await failure(mill.limits.change('smtp', bull))).toMatchObject({ ...unknown('limit.max'), fix })
    expect(await failure(mill.limits.create('api', { rate: 9, perr: '1m' } as never))).toMatchObject({
      ...unknown('limit.perr'),
      fix: 'Did you mean "per"?',
    })
    expect(await failure(mill.limits.create('api', {} as never))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'limit',
    })
    expect(await failure(mill.limits.drain('smtp', { retryafter: '1m' } as never))).toMatchObject({
      ...unknown('options.retryafter'),
      fix: 'Did you mean "retryAfter"?',
    })
  })

  test('an unknown limit fails the job with the nearest name, and an ended attempt acquires nothing', async () => {
    const { job } = drawing('smpt')
    let late: Promise<unknown> = Promise.resolve()
    const ended = defineJob({
      kind: 'ended',
      run({ limit }: JobContext<null>) {
        late = new Promise((resolve) => setImmediate(resolve)).then(() => failure(limit.acquire('smtp')))
      },
    })
    const mill = await create({ jobs: [job, ended], limits: SMTP })
    const wrong = await mill.enqueue(job, null)
    await mill.enqueue(ended, null)
    await mill.drain()
    const [[outcome, error] = []] = await attempts(mill, wrong.id)
    expect(outcome).toBe('failed')
    expect(error).toContain('Did you mean "smtp"?')
    expect(await late).toMatchObject({ code: 'ATTEMPT_ENDED' })
  })

  test('mill.limit uses the same budget outside of handlers, and waits until the mill stops', async () => {
    const { job } = drawing('smtp')
    const mill = await create({ jobs: [job], limits: { ...SMTP, db: { concurrency: 1 } } })
    expect(await mill.limit('smtp').tryAcquire()).not.toBeNull()
    const waiting = await mill.enqueue(job, null)
    await mill.clock.advance(0)
    expect(await mill.get(waiting.id)).toMatchObject({ state: 'scheduled', attempt: 0 })
    const permit = await mill.limit('db').acquire()
    const next = mill.limit('db').acquire()
    await mill.clock.advance(0)
    await permit.release()
    expect(await next).toMatchObject({ limit: 'db' })
    const never = failure(mill.limit('db').acquire())
    await mill.clock.advance(0)
    await mill.stop({ grace: 0 })
    expect(await never).toMatchObject({ code: 'MILL_STOPPED' })
    await (await next).release()
  })

  test('permits outside of handlers need a started mill', async () => {
    const mill = await create({ start: false, limits: { db: { concurrency: 1 }, ...SMTP } })
    expect(await failure(mill.limit('db').acquire())).toMatchObject({
      code: 'MILL_NOT_STARTED',
      fix: 'Call start() first',
    })
    expect(await mill.limit('smtp').acquire()).toMatchObject({ amount: 1 })
  })

  test('an operator can create, change, drain and delete limits, and a start overwrites nothing', async () => {
    const { job } = drawing('smtp')
    const mill = await create({ jobs: [job], limits: SMTP })
    expect(await mill.limits.list()).toMatchObject([
      { name: 'smtp', settings: { type: 'rate', amount: 50, perMs: 60_000, burst: 1 }, available: 1 },
    ])
    expect(await mill.limits.create('db', { concurrency: 2 })).toMatchObject({ name: 'db', available: 2 })
    expect(await failure(mill.limits.create('db', { concurrency: 3 }))).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'name',
    })
    // Omitted options keep their values, and a burst that was never set follows the rate.
    expect(await mill.limits.change('smtp', { rate: 600 })).toMatchObject({
      settings: { amount: 600, perMs: 60_000, burst: 10 },
    })
    expect(await mill.limits.change('smtp', { burst: 3 })).toMatchObject({
      settings: { amount: 600, burst: 3 },
    })
    expect(await mill.limits.change('smtp', { per: '1s' })).toMatchObject({
      settings: { amount: 600, perMs: 1_000, burst: 3 },
    })
    expect(await mill.limits.change('db', { concurrency: 5 })).toMatchObject({ available: 5 })
    expect(await mill.limits.drain('smtp', { retryAfter: '10s' })).toMatchObject({ drainedMs: 10_000 })
    const unknown = [mill.limits.change('smpt', { rate: 1 }), mill.limits.drain('smpt')]
    for (const failed of unknown.map(failure))
      expect(await failed).toMatchObject({
        code: 'LIMIT_UNKNOWN',
        message: expect.stringContaining('Did you mean "smtp"?') as string,
      })
    expect(await failure(mill.limits.change('smtp', { rat: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
    })
    const limits = { smtp: { rate: 1 } }
    const again = await testMill<FullStore>({
      jobs: [job],
      limits,
      platform: mill.platform,
      store: () => mill.store,
    })
    await again.stop({ grace: 0 })
    expect((await mill.limits.list()).find(({ name }) => name === 'smtp')).toMatchObject({
      settings: { type: 'rate', amount: 600 },
    })
    expect(await failure(mill.changeQueue('default', { limit: 'smpt' }))).toMatchObject({
      field: 'queue.limit',
      fix: MEANT,
    })
    await mill.changeQueue('default', { limit: 'db' })
    expect(await failure(mill.limits.delete('db'))).toMatchObject({ code: 'LIMIT_IN_USE' })
    await mill.changeQueue('default', { limit: null })
    expect([await mill.limits.delete('db'), await mill.limits.delete('db')]).toEqual([true, false])
    expect(await failure(mill.changeQueue('default', { limit: 'db' }))).toMatchObject({
      code: 'LIMIT_UNKNOWN',
      field: 'queue.limit',
    })
  })
})

const problemsOf = (limits: unknown, more: object = {}) =>
  checkOptions({
    store: sqlite(':memory:'),
    limits: limits as Record<string, LimitOptions>,
    env: {},
    ...more,
  }).map(({ level, code, option }) => [level, code, option])

const MEANT =
  'Did you mean "smtp"? Otherwise declare it under `limits` in the options of jobmill(), or create it with mill.limits.create'

describe('the option limits', () => {
  test.each([
    [{ smtp: { rate: 0 } }, 'NUMBER_INVALID', 'limits.smtp.rate'],
    [{ smtp: {} }, 'OPTION_INVALID', 'limits.smtp'],
    [{ smtp: { rate: 5, per: 'often' } }, 'DURATION_INVALID', 'limits.smtp.per'],
    [{ smtp: { rate: 5, per: 0 } }, 'DURATION_INVALID', 'limits.smtp.per'],
    [{ smtp: { rate: 5, burst: 0.5 } }, 'NUMBER_INVALID', 'limits.smtp.burst'],
    [{ smtp: { rate: 5, bust: 1 } }, 'OPTION_UNKNOWN', 'limits.smtp.bust'],
    [{ db: { concurrency: -1 } }, 'NUMBER_INVALID', 'limits.db.concurrency'],
    [{ db: { concurrency: 1, rate: 1 } }, 'OPTION_CONFLICT', 'limits.db'],
    [{ 'no name': { rate: 1 } }, 'NAME_INVALID', 'limits.no name'],
    [{ smtp: 50 }, 'OPTION_INVALID', 'limits.smtp'],
    [50, 'OPTION_INVALID', 'limits'],
  ])('%j is refused: %s at %s', (limits, code, option) => {
    expect(problemsOf(limits)).toEqual([['error', code, option]])
  })

  test('a queue with a limit per key is refused', () => {
    const options = {
      store: sqlite(':memory:'),
      limits: { chat: { rate: 1, perKey: true } },
      queues: { mail: { limit: 'chat' } },
    }
    expect(checkOptions(options).filter(({ level }) => level === 'error')).toMatchObject([
      { code: 'OPTION_CONFLICT', option: 'queues.mail.limit' },
    ])
  })

  test('a queue with an undeclared limit is a warning, and is refused at the start with its field', async () => {
    const queues = { mail: { limit: 'nope' } }
    expect(problemsOf({}, { queues })).toEqual([['warning', 'LIMIT_UNKNOWN', 'queues.mail.limit']])
    const mill = jobmill({ store: sqlite(':memory:'), queues, log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    expect(await failure(mill.open())).toMatchObject({
      code: 'LIMIT_UNKNOWN',
      field: 'queues.mail.limit',
      value: '"nope"',
      fix: 'Declare it under `limits` in the options of jobmill(), or create it with mill.limits.create',
    })
  })

  test('a queue with a misspelled limit is refused at the start with the nearest name, and reported once', async () => {
    const { job } = drawing('smtp')
    const queues = { default: { limit: 'smpt' } }
    const { log, warned } = warnings()
    const mill = jobmill({ store: sqlite(':memory:'), jobs: [job], limits: SMTP, queues, log })
    onTestFinished(async () => void (await mill.stop()))
    for (const call of [() => mill.enqueue(job, null), () => mill.start()]) {
      const error = await failure(call())
      expect(error).toMatchObject({ code: 'LIMIT_UNKNOWN', field: 'queues.default.limit', fix: MEANT })
      expect(error).not.toHaveProperty('cause')
    }
    expect(warned).toEqual([])
  })

  test('a limit that only the database has is a warning after the start', async () => {
    const file = freshFile()
    const { job } = drawing('smtp')
    const first = jobmill({ store: sqlite(file), limits: SMTP, log: 'silent' })
    await first.open()
    await first.stop()
    const { log, warned } = warnings()
    const queues = { default: { limit: 'smtp' } }
    const mill = jobmill({ store: sqlite(file), jobs: [job], queues, log })
    onTestFinished(async () => void (await mill.stop()))
    await mill.start()
    expect(warned).toEqual([mill.warnings[0]?.message])
  })

  test('a queue with a misspelled limit is a warning', () => {
    const { job } = drawing('smtp')
    const queues = { default: { limit: 'smpt' } }
    expect(problemsOf(SMTP, { jobs: [job], queues })).toEqual([
      ['warning', 'LIMIT_UNKNOWN', 'queues.default.limit'],
    ])
    expect(problemsOf(SMTP, { jobs: [job], queues: { default: { limit: 'smtp' } } })).toEqual([])
  })
})
