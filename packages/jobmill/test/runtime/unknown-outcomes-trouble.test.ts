// Store methods that fail for a while: the runtime retries on its own, reports the outage once, and loses
// nothing.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import type { TestMill, Verb } from '../../src/testing/index.ts'
import { faultyMill, type FaultyMill, places } from './places.ts'

const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<number>) => payload })
const FOREVER = { times: Number.POSITIVE_INFINITY }

/** The reported failures and recoveries of one part, in order. */
const trouble = ({ events }: TestMill, part: string): string[] =>
  troublesIn(events).filter((line) => line.endsWith(` ${part}`))

const troublesIn = (events: TestMill['events']): string[] =>
  events.flatMap((event) =>
    event.type === 'store-failing' || event.type === 'store-back'
      ? [`${event.type.slice('store-'.length)} ${event.part}`]
      : event.type === 'duty-failing' || event.type === 'duty-back'
        ? [`${event.type.slice('duty-'.length)} ${event.duty}`]
        : [],
  )

interface Trouble {
  readonly verb: Verb
  readonly part: string
  readonly forMs: number
  /** An action that needs the verb. */
  readonly call: (mill: FaultyMill) => Promise<unknown>
}

const TROUBLES: readonly Trouble[] = [
  // A job with a dedupe key is never dispatched directly, so the mill has to claim it.
  {
    verb: 'claim',
    part: 'claim',
    forMs: 8_000,
    call: (mill) => mill.enqueue(echo, 1, { dedupeKey: 'claimed' }),
  },
  { verb: 'finish', part: 'finish', forMs: 8_000, call: (mill) => mill.enqueue(echo, 1) },
  // Shorter than the lease: unknown-outcomes-lease.test.ts covers longer outages.
  { verb: 'instances.renew', part: 'heartbeat', forMs: 6_000, call: (mill) => mill.enqueue(echo, 1) },
  { verb: 'stage', part: 'stage', forMs: 8_000, call: (mill) => mill.enqueue(echo, 1, { delay: 100 }) },
  {
    verb: 'queues.list',
    part: 'settings',
    forMs: 8_000,
    async call(mill) {
      await mill.changeQueue(mill.queuesServed[0] ?? '', { workers: 3 })
      await mill.enqueue(echo, 1)
    },
  },
  { verb: 'instances.held', part: 'compare', forMs: 181_000, call: (mill) => mill.enqueue(echo, 1) },
  { verb: 'retain', part: 'retain', forMs: 345_000, call: async () => {} },
]

describe.each(places)('store failures on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  const at = create()
  // Minutes of heartbeats need many statements, so the long outages run only on SQLite, the faster store.
  const troubles = TROUBLES.filter(({ forMs }) => name === 'sqlite' || forMs < 60_000)

  test.each(troubles)(
    'P16 $verb that fails for a while: reported once, retried until it works, recovery reported once, and all jobs done',
    async ({ verb, part, forMs, call }) => {
      const mill = await faultyMill(at, { jobs: [echo], route: () => `trouble-${verb}` })
      await mill.platform.settled()
      mill.store.fail(verb, FOREVER)
      await call(mill)
      await mill.platform.advance(forMs)
      expect(trouble(mill, part)).toEqual([`failing ${part}`])
      expect(mill.store.calls(verb)).toBeGreaterThan(2)
      mill.store.clear()
      // A pause of retention can be longer than those of duties that jobs wait for.
      await mill.platform.advance(part === 'retain' ? '40s' : '11s')
      expect(trouble(mill, part)).toEqual([`failing ${part}`, `back ${part}`])
      await mill.enqueue(echo, 2, { delay: 100 })
      await mill.platform.advance('2s')
      const { jobs } = await mill.list({ queue: `trouble-${verb}` })
      expect(jobs.map(({ state, attempt }) => [state, attempt])).toEqual(jobs.map(() => ['done', 1]))
      expect(mill.events.filter(({ type }) => type === 'instance-lost')).toEqual([])
    },
    30_000,
  )

  test('P16 if the settings cannot be read, the last known ones apply until the new ones are read', async () => {
    const mill = await faultyMill(at, { jobs: [echo], route: () => 'settings' })
    await mill.platform.settled()
    mill.store.fail('queues.list', FOREVER)
    await mill.pause('settings')
    await mill.platform.advance('3s')
    expect(mill.events.map(({ type }) => type)).not.toContain('queue-changed')
    mill.store.clear()
    await mill.platform.advance('1s')
    expect(mill.events.filter(({ type }) => type === 'queue-changed')).toMatchObject([
      { queue: 'settings', before: { paused: false }, after: { paused: true } },
    ])
  })

  test('P3 outcomes that cannot be written are not lost while handlers continue; claims stop at twice the workers', async () => {
    const ran: number[] = []
    const counting = defineJob({
      kind: 'counting',
      run: ({ payload }: JobContext<number>) => void ran.push(payload),
    })
    const mill = await faultyMill(at, {
      jobs: [counting],
      route: () => 'unwritten',
      queues: { unwritten: { workers: 2 } },
    })
    mill.store.fail('finish', FOREVER)
    const payloads = Array.from({ length: 20 }, (_, n) => n)
    await mill.enqueueMany(
      counting,
      payloads.map((payload) => ({ payload })),
    )
    await mill.platform.advance('12s')
    // With two workers, four unwritten outcomes still allow a claim, and six do not.
    expect(ran).toEqual(payloads.slice(0, 6))
    const claims = mill.store.calls('claim')
    await mill.platform.advance('9s')
    expect(mill.store.calls('claim')).toBe(claims)
    mill.store.clear()
    await mill.platform.advance('5s')
    expect(ran.toSorted((a, b) => a - b)).toEqual(payloads)
    const { jobs } = await mill.list({ queue: 'unwritten' })
    expect(jobs.map(({ state, attempt, crashes }) => [state, attempt, crashes])).toEqual(
      payloads.map(() => ['done', 1, 0]),
    )
  })

  test('P3 P16 everything fails and recovers at once: every acknowledged job is done, once', async () => {
    const mill = await faultyMill(at, { jobs: [echo], route: () => 'all' })
    const verbs: Verb[] = [
      'claim',
      'finish',
      'instances.renew',
      'stage',
      'queues.list',
      'instances.held',
      'progress',
      'instances.reap',
      'results',
    ]
    const acknowledged: string[] = []
    for (let round = 0; round < 3; round += 1) {
      for (const verb of verbs) mill.store.fail(verb, FOREVER)
      for (const delay of [0, 500, 3_000]) acknowledged.push((await mill.enqueue(echo, round, { delay })).id)
      await mill.platform.advance('6s')
      mill.store.clear()
      await mill.platform.advance('8s')
    }
    await mill.drain({ scheduled: true })
    for (const id of acknowledged) {
      expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1 })
      expect(await mill.history(id)).toHaveLength(1)
    }
  })
})
