/**
 * Remote dispatch to an idle instance of another process: what is offered, what is used, and that such a
 * lease is a full lease.
 */
import pg from 'pg'
import assert from 'node:assert/strict'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { postgres } from '../../src/postgres.ts'
import type { DispatchedJob, IdleWorkerOffer } from '../../src/store/types/claim.ts'
import type { FullStore } from '../../src/store/store.ts'
import { channelOf, remoteDispatcher } from '../../src/store-postgres/notifier/remote-dispatch.ts'
import { aClaim, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')

async function opened(schema: string): Promise<FullStore> {
  // One connection, so that messages arrive in order.
  const store: FullStore = postgres(url, { schema, connections: 1 })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

const waitFor = (store: FullStore, queue: string) =>
  store.notifier.wait({ queues: [queue], timeoutMs: 60_000 })

/** One process that enqueues, and one that works and has already run a job of the first. */
async function scene() {
  const schema = freshSchema(url, 'over')
  const [client, worker] = [await opened(schema), await opened(schema)]
  const instance = anInstance({ leaseMs: 3_600_000, kinds: ['work'] })
  await worker.instances.register(instance)
  const { remote } = worker.notifier
  assert(remote !== undefined)
  const arrived: DispatchedJob[] = []
  const listeners: (() => void)[] = []
  onTestFinished(
    remote.receive(instance.id, (handed) => {
      arrived.push(handed)
      listeners.splice(0).forEach((tell) => tell())
    }),
  )
  const first = waitFor(worker, 'a')
  await client.enqueue([aJob({ queue: 'a' })])
  await first
  expect(await worker.claim(aClaim(instance.id, { queues: [{ queue: 'a', room: 1 }] }))).toHaveLength(1)
  let offers = 0

  return {
    schema,
    client,
    worker,
    instance,
    arrived,
    /** Resolves when the other process has received it, with whether there was a receiver. */
    offerWorker: async (overrides: Partial<IdleWorkerOffer> = {}): Promise<boolean> => {
      offers += 1
      const isTold = remote.offerWorker({
        instance: instance.id,
        queue: 'a',
        kind: 'work',
        offer: offers,
        ...overrides,
      })
      const after = waitFor(client, 'heard')
      worker.notifier.notify(['heard'])
      await after
      return isTold
    },
    /** Resolves at once if this many jobs have arrived, else with the next arrival. */
    arrival: (jobs: number) =>
      arrived.length >= jobs ? Promise.resolve() : new Promise<void>((resolve) => listeners.push(resolve)),
    /** Everything that was sent earlier has arrived when it resolves. */
    silence: async (): Promise<void> => {
      const after = waitFor(worker, 'silence')
      client.notifier.notify(['silence'])
      await after
    },
    stateOf: async ({ id }: NewJob): Promise<string | undefined> => (await client.get([id]))[0]?.state,
  }
}

/** The public name of this process in notifications, and the channel on which it receives messages. */
async function processOf(store: FullStore, schema: string) {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  onTestFinished(() => admin.end())
  const notified = new Promise<string>((resolve) => {
    admin.on('notification', ({ payload = '' }) => resolve((JSON.parse(payload) as { from: string }).from))
  })
  await admin.query(`LISTEN "jobmill ${schema}"`)
  store.notifier.notify(['unused'])
  const [row] = (await admin.query<{ value: string }>(`SELECT value FROM ${schema}.secret`)).rows
  const process = await notified
  return { admin, process, channel: channelOf(process, row?.value ?? '') }
}

describe('postgres: remote dispatch of a job', () => {
  test('P2 leases it in the insert and delivers it with its payload, once for each offer', async () => {
    const { client, worker, instance, offerWorker, arrived, arrival, silence, stateOf } = await scene()
    expect(await offerWorker()).toBe(true)
    const [job, next] = [
      aJob({ queue: 'a', payload: '{"text":"ä \\u001e 1 2 {}"}', maxAttempts: 7, priority: -3 }),
      aJob({ queue: 'a' }),
    ]
    expect(await client.enqueue([job])).toEqual([{ id: job.id, outcome: 'enqueued' }])
    await arrival(1)
    const { id, payload, maxAttempts, priority } = job
    expect(arrived).toMatchObject([
      { offer: 1, lease: { id, payload, maxAttempts, priority, kind: 'work', queue: 'a', attempt: 1 } },
    ])
    const lease = arrived[0]?.lease
    expect(await worker.instances.held(instance.id)).toContainEqual(
      expect.objectContaining({ id, token: lease?.token }),
    )
    const finished = await worker.finish([
      { id, token: lease?.token ?? 0, outcome: 'returned', transition: { to: 'done', result: '1' } },
    ])
    expect(finished).toMatchObject([{ accepted: true, state: 'done' }])
    await client.enqueue([next])
    await silence()
    expect(await stateOf(next)).toBe('ready')
    expect(arrived).toHaveLength(1)
  })

  test('offers a worker once, until the other process sends a notification or a job', async () => {
    const { client, offerWorker, arrival, silence, stateOf } = await scene()
    expect(await offerWorker()).toBe(true)
    expect(await offerWorker()).toBe(false)
    const job = aJob({ queue: 'a' })
    await client.enqueue([job])
    await arrival(1)
    expect(await stateOf(job)).toBe('running')
    expect(await offerWorker()).toBe(true)
    await client.enqueue([aJob({ queue: 'a', kind: 'other' })])
    await silence()
    expect(await offerWorker()).toBe(true)
  })

  test.each<[string, (at: Awaited<ReturnType<typeof scene>>) => Promise<unknown>, NewJob[]?]>([
    [
      'in a queue that is paused',
      async ({ client }) => {
        await client.queues.declare([{ name: 'a', settings: DEFAULT_QUEUE_SETTINGS }])
        await client.queues.change('a', { settings: { paused: true }, coolMs: null })
      },
    ],
    ['while another is ready', ({ worker }) => worker.enqueue([aJob({ queue: 'a', kind: 'other' })])],
    ['when it has ended', ({ worker, instance }) => worker.instances.deregister(instance.id)],
    ['of another kind', () => Promise.resolve(), [aJob({ queue: 'a', kind: 'other' })]],
    ['of another queue', () => Promise.resolve(), [aJob({ queue: 'b' })]],
    ['with others in one call', () => Promise.resolve(), someJobs([{ queue: 'a' }, { queue: 'a' }])],
    [
      'that is too long for a message',
      () => Promise.resolve(),
      [aJob({ queue: 'a', payload: JSON.stringify('x'.repeat(8_000)) })],
    ],
    ['with a tag', () => Promise.resolve(), [aJob({ queue: 'a', tags: ['one'] })]],
    ['with an order key', () => Promise.resolve(), [aJob({ queue: 'a', orderKey: 'one' })]],
  ])('is not leased to it %s', async (_, prepare, jobs = [aJob({ queue: 'a' })]) => {
    const at = await scene()
    await at.offerWorker()
    await prepare(at)
    await at.client.enqueue(jobs)
    await at.silence()
    expect(at.arrived).toEqual([])
    for (const job of jobs) expect(['ready', 'scheduled']).toContain(await at.stateOf(job))
  })

  test('prefers a worker of the enqueuing process, if there is one', async () => {
    const { client, offerWorker, arrived, silence } = await scene()
    await offerWorker()
    const here = anInstance({ leaseMs: 3_600_000, kinds: ['work'] })
    await client.instances.register(here)
    const directDispatch = { instance: here.id, queues: [{ queue: 'a', room: 1 }], kinds: ['work'] }
    const [reply] = await client.enqueue([aJob({ queue: 'a' })], { directDispatch })
    expect(reply?.lease).toBeDefined()
    await silence()
    expect(arrived).toEqual([])
  })

  test('P4 leases nothing to a process that no longer listens, for example after a kill', async () => {
    const { schema, client, worker, offerWorker, stateOf } = await scene()
    await offerWorker()
    const { admin, channel } = await processOf(worker, schema)
    const isGone = async (): Promise<unknown> => {
      const text = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS is_gone'
      return (await admin.query<{ is_gone: boolean }>(text, [channel])).rows[0]?.is_gone
    }
    expect(await isGone()).toBe(false)
    await worker.close()
    await expect.poll(isGone).toBe(true)
    const job = aJob({ queue: 'a' })
    await client.enqueue([job])
    expect(await stateOf(job)).toBe('ready')
  })

  test('P4 leases nothing to it while another process finds out that it does not listen', async () => {
    const { schema, client, instance } = await scene()
    const [one, other] = [
      new pg.Client({ connectionString: url }),
      new pg.Client({ connectionString: url }),
    ] as const
    for (const session of [one, other]) {
      await session.connect()
      onTestFinished(() => session.end())
    }
    // Nothing is ready.
    expect(await client.counts()).toMatchObject([{ queue: 'a', ready: 0 }])
    const write = async (session: pg.Client): Promise<unknown> => {
      const text = `
        SELECT e.leased FROM ${schema}.queue AS q, ${schema}.kind AS k, ${schema}.enqueue(
          NULL, true, ARRAY[gen_random_uuid()], ARRAY[q.id], ARRAY[k.id], '{0}', '{5}', '{NULL}', 'null', NULL, NULL, NULL, false,
          $1, ARRAY[q.id], '{1}', ARRAY[k.id], '{1}', '{-32769}', '{0}', '{32768}', 'jobmill nobody', '{}', NULL) AS e
         WHERE q.name = 'a' AND k.name = 'work'`
      return (await session.query<{ leased: number }>(text, [instance.id])).rows[0]?.leased
    }
    await one.query('BEGIN')
    const leased = [await write(one), await write(other)]
    await one.query('COMMIT')
    expect(leased).toEqual([0, 0])
  })

  test('P1 inserts the job without remote dispatch if the database refuses it', async () => {
    const { schema, client, offerWorker, silence, arrived, stateOf } = await scene()
    await offerWorker()
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    onTestFinished(() => admin.end())
    await admin.query(`DROP FUNCTION ${schema}.first_ready`)
    const job = aJob({ queue: 'a' })
    expect(await client.enqueue([job])).toEqual([{ id: job.id, outcome: 'enqueued' }])
    await silence()
    expect([await stateOf(job), arrived]).toEqual(['ready', []])
  })

  test('uses a channel that a role without access to the schema does not know', async () => {
    const { schema, client, worker, offerWorker, arrival, silence } = await scene()
    const [{ admin, process }, { process: other }] = [
      await processOf(client, schema),
      await processOf(worker, schema),
    ]
    const overheard: string[] = []
    admin.on('notification', ({ payload = '' }) => void overheard.push(payload))
    for (const name of [process, other]) await admin.query(`LISTEN "jobmill ${name}"`)
    await offerWorker()
    const job = aJob({ queue: 'a' })
    await client.enqueue([job])
    await arrival(1)
    await silence()
    await admin.query('SELECT 1')
    expect(overheard.length).toBeGreaterThan(0)
    expect(overheard.filter((text) => text.includes(job.id) || text.includes('offer'))).toEqual([])
  })

  test('counts as running in its queue', async () => {
    const { client, offerWorker, arrival } = await scene()
    await offerWorker()
    await client.enqueue([aJob({ queue: 'a' })])
    await arrival(1)
    // Including the one that was claimed before.
    expect(await client.counts()).toMatchObject([{ queue: 'a', ready: 0, running: 2 }])
  })
})

function alone() {
  let now = 0
  const sent: [string, string][] = []
  const overs = remoteDispatcher({
    me: 'me',
    channelOf: (process) => `jobmill ${process}`,
    platform: { monotonic: () => now },
    send: (channel, text) => void sent.push([channel, text]),
  })
  return { overs, sent, pass: (ms: number) => (now += ms) }
}
const OTHER_INSTANCE = '00000000-0000-7000-8000-000000000001'
const offer = (number: number): IdleWorkerOffer => ({
  instance: OTHER_INSTANCE,
  queue: 'a',
  kind: 'work',
  offer: number,
})
const offerText = (number: number): string => JSON.stringify({ ...offer(number), from: OTHER_INSTANCE })

describe('postgres: offers', () => {
  test('are made to the process that sent the last notification, if that is recent', () => {
    const { overs, sent, pass } = alone()
    expect(overs.offerWorker(offer(1))).toBe(false)
    overs.onNotification('first', ['a'])
    overs.onNotification('second', ['a', 'b'])
    expect(overs.offerWorker(offer(2))).toBe(true)
    expect(sent).toEqual([['jobmill second', JSON.stringify({ ...offer(2), from: 'me' })]])
    overs.onNotification('third', ['a'])
    pass(10_000)
    expect(overs.offerWorker(offer(3))).toBe(false)
  })

  test('are not made after notifications for too many queues', () => {
    const { overs } = alone()
    overs.onNotification('first', ['a'])
    const names = Array.from({ length: 9_999 }, (_, n) => `q${n}`)
    overs.onNotification('second', names)
    expect(overs.offerWorker(offer(1))).toBe(true)
    overs.onNotification('second', ['one more'])
    expect(overs.offerWorker({ ...offer(2), kind: 'other' })).toBe(false)
  })

  test('are used in order, each once, and not when they are old', () => {
    const { overs, pass } = alone()
    for (const number of [1, 2]) overs.onMessage(offerText(number))
    const job = aJob({ queue: 'a' })
    const used = (): unknown => {
      const over = overs.of(job)
      pass(5)
      return over === undefined ? undefined : (JSON.parse(over.message) as { offer: number }).offer
    }
    expect([used(), used(), used()]).toEqual([1, 2, undefined])
    overs.onMessage(offerText(3))
    pass(10_000)
    expect(used()).toBeUndefined()
  })

  test('are bounded, and an unknown message is ignored', () => {
    const { overs, pass } = alone()
    for (let number = 1; number <= 1_000; number += 1) overs.onMessage(offerText(number))
    const used = Array.from({ length: 1_000 }, () => {
      pass(5)
      return overs.of(aJob({ queue: 'a' }))
    })
    expect(used.filter(Boolean)).toHaveLength(100)
    const arrived: unknown[] = []
    overs.receive(OTHER_INSTANCE, (handed) => void arrived.push(handed))
    const { id, kind, queue, priority, maxAttempts, payload } = aJob({ queue: 'a' })
    const job = { id, kind, queue, priority, maxAttempts, payload }
    const message = { offer: 1, from: 'there', instance: OTHER_INSTANCE, job }
    const plain = [
      '',
      'x',
      '{',
      'null',
      '[]',
      '{"job":null}',
      '{"job":1}',
      '{"job":{}}',
      JSON.stringify(message),
    ]
    const numbered = ['x', '{}', 'null', '{"job":null}', '{"job":{}}', offerText(1)].map(
      (text) => `1 2 ${text}`,
    )
    const wrongOffers = [{ instance: 'x' }, { from: 1 }, { offer: '1' }, { queue: null }, { kind: 7 }].map(
      (wrong) => JSON.stringify({ ...offer(1), from: OTHER_INSTANCE, ...wrong }),
    )
    const wrong = [
      { id: 'x' },
      { kind: 1 },
      { queue: null },
      { payload: {} },
      { priority: '0' },
      { maxAttempts: 1.5 },
    ]
    const wrongJobs = wrong.map((one) => `1 2 ${JSON.stringify({ ...message, job: { ...job, ...one } })}`)
    for (const text of [...plain, ...numbered, ...wrongOffers, ...wrongJobs]) overs.onMessage(text)
    expect([overs.of(aJob({ queue: 'a' })), arrived]).toEqual([undefined, []])
    overs.onMessage(`1 2 ${JSON.stringify(message)}`)
    expect(arrived).toHaveLength(1)
  })

  test('are used at most once every few milliseconds', () => {
    const { overs, pass } = alone()
    for (const number of [1, 2]) overs.onMessage(offerText(number))
    expect(overs.of(aJob({ queue: 'a' }))).toBeDefined()
    pass(4)
    expect(overs.of(aJob({ queue: 'a' }))).toBeUndefined()
    pass(1)
    expect(overs.of(aJob({ queue: 'a' }))).toBeDefined()
  })
})
