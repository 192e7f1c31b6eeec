// Lost replies: the runtime reads what was written and repairs the difference. It never guesses, and nothing
// happens twice.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type EventType, type JobContext, type MillEvent } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { gatedJob } from '../kit/support.ts'
import { faultyMill, places } from './places.ts'

const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<number>) => payload })
const FOREVER = { times: Number.POSITIVE_INFINITY }

const eventsOf = (mill: TestMill, type: EventType): MillEvent[] =>
  mill.events.filter((event) => event.type === type)

describe.each(places)('lost replies on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  const at = create()

  test('P11 an enqueue with a lost reply stores one job, and resolves once that is known', async () => {
    const mill = await faultyMill(at, { jobs: [echo], route: () => 'p11', start: false })
    const { store, platform } = mill
    store.loseReply('enqueue', { times: 3 })
    const plain = mill.enqueue(echo, 1)
    await platform.advance('1s')
    // The store executes the first call and its reply is lost; the next two calls do not reach the store.
    store.hold('enqueue').release()
    store.fail('enqueue', { times: 2 })
    store.loseReply('enqueue')
    const keyed = mill.enqueue(echo, 2, { dedupeKey: 'p11' })
    const many = mill.enqueueMany(echo, [{ payload: 3 }, { payload: 4, dedupeKey: 'p11 too' }])
    await platform.advance('1s')
    const answers = [await plain, await keyed, ...(await many)]
    expect(answers.map(({ outcome }) => outcome)).toEqual(answers.map(() => 'enqueued'))
    const { jobs } = await mill.list({ queue: 'p11' })
    expect(new Set(jobs.map(({ id }) => id))).toEqual(new Set(answers.map(({ id }) => id)))
  })

  test('P11 an enqueue whose outcome stays unknown rejects, and can be repeated with its id', async () => {
    const mill = await faultyMill(at, { jobs: [echo], route: () => 'repeated', start: false })
    const { store, platform } = mill
    const id = platform.id()
    store.loseReply('enqueue', FOREVER)
    const unknown = rejection(() => mill.enqueue(echo, 1, { id }))
    await platform.advance('1m')
    expect((await unknown).code).toBe('OUTCOME_UNKNOWN')
    store.clear()
    expect(await mill.enqueue(echo, 1, { id })).toMatchObject({ id, outcome: 'enqueued' })
    expect((await mill.list({ queue: 'repeated' })).jobs).toHaveLength(1)
  })

  test('P3 P16 jobs of a claim with a lost reply are found, released and run, without spending an attempt', async () => {
    const mill = await faultyMill(at, { jobs: [echo], route: () => 'claimed' })
    const { store, platform } = mill
    await platform.settled()
    store.loseReply('claim')
    // Jobs with a dedupe key are never dispatched directly, so the mill has to claim them.
    const jobs = await mill.enqueueMany(
      echo,
      [1, 2, 3].map((payload) => ({ payload, dedupeKey: `claimed ${payload}` })),
    )
    await platform.settled()
    for (const { id } of jobs) expect(await mill.get(id)).toMatchObject({ state: 'running', attempt: 1 })
    expect(eventsOf(mill, 'started')).toEqual([])
    await platform.advance('10s')
    expect(eventsOf(mill, 'leases-found')).toMatchObject([{ jobs: 3 }])
    for (const { id } of jobs) {
      expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
      expect(await mill.history(id)).toHaveLength(1)
    }
    expect(eventsOf(mill, 'started')).toHaveLength(3)
  })

  test('P16 a job that this process runs never counts as a lost claim, however long it runs', async () => {
    const { job, entered, open } = gatedJob()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'long' })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    await mill.platform.advance('35s')
    expect([signal.aborted, eventsOf(mill, 'leases-found')]).toEqual([false, []])
    // A job that ends during the lookup must not count as a lost claim either.
    const asked = mill.store.holdReply('instances.held')
    await mill.platform.advance('10s')
    await asked.reached
    open('ended')
    await mill.platform.settled()
    expect(await mill.get(id)).toMatchObject({ state: 'done' })
    asked.release()
    await mill.platform.settled()
    expect(eventsOf(mill, 'leases-found')).toEqual([])
    expect(await mill.history(id)).toHaveLength(1)
  })

  test('P3 P16 a finish with a lost reply is written once, and so are its follow-ups', async () => {
    const parent = defineJob({
      kind: 'parent',
      async run({ enqueue }) {
        await enqueue(echo, 1, { withCompletion: true })
        return 'result'
      },
    })
    const mill = await faultyMill(at, { jobs: [echo, parent], route: () => 'finished' })
    mill.store.loseReply('finish', { times: 3 })
    const job = await mill.enqueue(parent, null)
    const result = job.result()
    await mill.platform.advance('2s')
    expect(await result).toBe('result')
    expect(await mill.history(job.id)).toMatchObject([{ outcome: 'returned' }])
    // The event is emitted once too, after the outcome is known to be written.
    expect(eventsOf(mill, 'finished').filter((event) => 'id' in event && event.id === job.id)).toHaveLength(1)
    expect((await mill.list({ queue: 'finished', kind: 'echo' })).jobs).toMatchObject([{ state: 'done' }])
    expect(eventsOf(mill, 'started')).toHaveLength(2)
  })

  test('P16 a death with a lost reply runs onDead once', async () => {
    const deaths: string[] = []
    const mortal = defineJob({
      kind: 'mortal',
      run: () => Promise.reject(new Dead('for good')),
      onDead: ({ dead, error }) => void deaths.push(`${dead.id} ${error}`),
    })
    const mill = await faultyMill(at, { jobs: [mortal], route: () => 'dead' })
    mill.store.loseReply('finish', { times: 2 })
    const { id } = await mill.enqueue(mortal, null)
    await mill.platform.advance('5s')
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 1 })
    expect(deaths).toEqual([`${id} Dead: for good`])
    const { jobs: followUps } = await mill.list({ queue: 'jobmill.dead', kind: 'mortal:dead' })
    expect(followUps).toMatchObject([{ state: 'done' }])
  })

  test('P16 progress and logs with lost replies are written with the next ones', async () => {
    const { entered, open, ...gate } = gatedJob()
    const noting = defineJob({
      kind: 'noting',
      run(context) {
        context.progress({ percent: 5 })
        context.log('a line')
        return gate.job.run(context)
      },
    })
    const mill = await faultyMill(at, { jobs: [noting], route: () => 'noted' })
    mill.store.loseReply('progress')
    mill.store.fail('progress', { times: 2 })
    const { id } = await mill.enqueue(noting, null)
    await entered
    await mill.platform.advance('3s')
    const running = await mill.get(id)
    expect(running).toMatchObject({ state: 'running', progress: { percent: 5 } })
    expect(running?.log.map(({ message }) => message)).toEqual(['a line'])
    expect(eventsOf(mill, 'progress')).toMatchObject([{ id, value: { percent: 5 } }])
    open('done')
  })

  test('P16 lost replies of renewals do no harm while one arrives in time', async () => {
    const { job, entered, open } = gatedJob()
    const mill = await faultyMill(at, { jobs: [job], route: () => 'renewed' })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    for (let round = 0; round < 5; round += 1) {
      mill.store.loseReply('instances.renew', FOREVER)
      await mill.platform.advance('8s')
      mill.store.clear()
      await mill.platform.advance('1s')
    }
    expect([signal.aborted, eventsOf(mill, 'instance-lost')]).toEqual([false, []])
    open('done')
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
  })
})
