// The acts of a member of a crowd, and what it remembers of the replies.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { DirectDispatchOffer, Lease } from '../../src/store/types/claim.ts'
import type { Enqueued } from '../../src/store/types/replies.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aDirectDispatch, QUEUE } from '../../../conformance/src/factories.ts'
import { aClaim, anInstance } from '../../../conformance/src/index.ts'

export const KEYS = ['k1', 'k2', 'k3']

export interface Act {
  readonly verb: 'enqueue' | 'directDispatch' | 'claim' | 'finish' | 'forget' | 'release' | 'cancel'
  readonly key: number
  readonly many: number
}

/** For each member of the crowd, its acts in order. */
export type Crowd = readonly (readonly Act[])[]

const anAct: fc.Arbitrary<Act> = fc.record({
  verb: fc.constantFrom(
    ...([
      'enqueue',
      'enqueue',
      'directDispatch',
      'claim',
      'claim',
      'finish',
      'forget',
      'release',
      'cancel',
    ] as const),
  ),
  key: fc.nat({ max: KEYS.length - 1 }),
  many: fc.integer({ min: 1, max: 4 }),
})

export const aCrowd: fc.Arbitrary<Crowd> = fc.array(
  fc.array(anAct, { minLength: 10, maxLength: 25, size: 'max' }),
  {
    minLength: 3,
    maxLength: 4,
  },
)

/** The acts of a member and their replies. */
export interface MemberLog {
  readonly enqueued: { readonly job: NewJob; readonly reply: Enqueued }[]
  readonly leases: Lease[]
  readonly ended: Set<string>
  /** Ended jobs that were not kept. */
  readonly forgotten: Set<string>
}

export async function member(
  store: FullStore,
  acts: readonly Act[],
  makeJob: (act: Act) => NewJob,
): Promise<MemberLog> {
  const instance = anInstance({ leaseMs: 600_000 })
  await store.instances.register(instance)
  const log: MemberLog = { enqueued: [], leases: [], ended: new Set(), forgotten: new Set() }
  const hand: Lease[] = []
  for (const act of acts) await ACTS[act.verb]({ store, act, makeJob, log, hand, instance: instance.id })
  return log
}

interface Moment {
  readonly store: FullStore
  readonly act: Act
  readonly makeJob: (act: Act) => NewJob
  readonly log: MemberLog
  readonly hand: Lease[]
  readonly instance: string
}

/** Jobs that were dispatched directly. */
async function enqueue(
  { store, act, makeJob, log }: Moment,
  {
    directDispatch,
    priority = 0,
  }: { readonly directDispatch?: DirectDispatchOffer; readonly priority?: number } = {},
): Promise<Lease[]> {
  const jobs = Array.from({ length: act.many }, () => ({ ...makeJob(act), priority }))
  const replies = await store.enqueue(jobs, { directDispatch })
  for (const [n, reply] of replies.entries()) {
    const job = jobs[n]
    if (job !== undefined) log.enqueued.push({ job, reply })
  }
  return replies.flatMap(({ lease }) => lease ?? [])
}

async function finish({ store, act, log, hand }: Moment, forget: boolean): Promise<void> {
  const leases = hand.splice(0, act.many)
  const items = leases.map(({ id, token }) => ({
    id,
    token,
    transition: { to: 'done', result: null, forget } as const,
    outcome: 'returned' as const,
  }))
  for (const { id, accepted } of await store.finish(items)) {
    assert.equal(accepted, true, 'nobody else may end what this member holds')
    log.ended.add(id)
    if (forget) log.forgotten.add(id)
  }
}

const ACTS: Readonly<Record<Act['verb'], (moment: Moment) => Promise<void>>> = {
  enqueue: async (moment) => void (await enqueue(moment)),
  async directDispatch(moment) {
    const { act, instance, log, hand } = moment
    // Mostly blocked by ready jobs, unless it has the best priority of all.
    const queues = [{ queue: QUEUE, room: act.many }]
    const leases = await enqueue(moment, {
      directDispatch: aDirectDispatch(instance, { queues }),
      priority: -1,
    })
    log.leases.push(...leases)
    hand.push(...leases)
  },
  async claim({ store, act, log, hand, instance }) {
    const leases = await store.claim(aClaim(instance, { limit: act.many }))
    log.leases.push(...leases)
    hand.push(...leases)
  },
  finish: (moment) => finish(moment, false),
  forget: (moment) => finish(moment, true),
  async release({ store, act, log, hand }) {
    const leases = hand.splice(0, act.many)
    const items = leases.map(({ id, token }) => ({
      id,
      token,
      transition: { to: 'ready' } as const,
      outcome: null,
    }))
    // A job with a pending cancel ends here.
    for (const { id, state } of await store.finish(items)) if (state === 'cancelled') log.ended.add(id)
  },
  async cancel({ store, log }) {
    const mine = log.enqueued.at(-1)?.reply.id
    if (mine === undefined) return
    const [verdict] = await store.cancel([mine], 'no')
    if (verdict?.verdict === 'changed' && verdict.state === 'cancelled') log.ended.add(mine)
  },
}
