/** Creates jobs that hold a dedupe key, one for each state of a job, through the public API of a mill. */
import { Dead, defineJob, type EnqueueOptions, type JobContext, type JobView } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'

export interface Payload {
  readonly act: 'return' | 'wait' | 'ignore' | 'throw' | 'die'
  readonly n: number
}

export const keyed = defineJob({
  kind: 'keyed',
  backoff: { fixed: '5s' },
  run({ payload, signal }: JobContext<Payload>) {
    if (payload.act === 'throw') throw new Error('again later')
    if (payload.act === 'die') throw new Dead('never again')
    if (payload.act === 'return') return payload.n
    if (payload.act === 'ignore') return new Promise(() => {})
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  },
})

/** Tests share a running mill, so each test uses its own queue and its own dedupe key. */
export interface Spot {
  readonly mill: TestMill
  readonly queue: string
}

export const keyOf = ({ queue }: Spot): string => `of ${queue}`

export interface Holder {
  readonly make: (spot: Spot) => Promise<string>
  /** The expected view of the holder after `make`; null when the job is deleted. */
  readonly is: Partial<JobView> | null
}

async function made(spot: Spot, act: Payload['act'], options: EnqueueOptions = {}): Promise<string> {
  const { mill, queue } = spot
  const { id } = await mill.enqueue(keyed, { act, n: 0 }, { queue, dedupe: { key: keyOf(spot) }, ...options })
  mill.wake()
  await mill.platform.settled()
  return id
}

function held(spot: Spot, act: Payload['act'], options: EnqueueOptions = {}): Promise<string> {
  return made(spot, act, { ...options, dedupe: { key: keyOf(spot), holdFor: '5s' } })
}

/** Holders that still hold the key. */
export const HOLDING: Readonly<Record<string, Holder>> = {
  scheduled: {
    make: (spot) => made(spot, 'return', { delay: '1d' }),
    is: { state: 'scheduled', attempt: 0 },
  },
  ready: {
    async make(spot) {
      await spot.mill.pause(spot.queue)
      return made(spot, 'return')
    },
    is: { state: 'ready', attempt: 0 },
  },
  'between attempts': { make: (spot) => made(spot, 'throw'), is: { state: 'scheduled', attempt: 1 } },
  running: { make: (spot) => made(spot, 'wait'), is: { state: 'running', attempt: 1 } },
  'running although it was cancelled': {
    async make(spot) {
      const id = await made(spot, 'ignore')
      await spot.mill.cancel(id, 'no longer wanted')
      return id
    },
    is: { state: 'running', cancelReason: 'no longer wanted' },
  },
  'done and held': {
    async make(spot) {
      const id = await held(spot, 'return')
      await spot.mill.clock.advance(4_999)
      return id
    },
    is: { state: 'done' },
  },
  'dead and held': {
    make: (spot) => made(spot, 'die', { dedupe: { key: keyOf(spot), holdFor: '5s', holdAfter: 'ended' } }),
    is: { state: 'dead' },
  },
  'done, held and deleted': {
    async make(spot) {
      const id = await held(spot, 'return')
      await spot.mill.delete(id)
      return id
    },
    is: null,
  },
}

/** Holders that have released the key. */
export const ENDED: Readonly<Record<string, Holder>> = {
  'done without a hold': { make: (spot) => made(spot, 'return'), is: { state: 'done' } },
  'done with an expired hold': {
    async make(spot) {
      const id = await held(spot, 'return')
      await spot.mill.clock.advance(5_000)
      return id
    },
    is: { state: 'done' },
  },
  dead: { make: (spot) => held(spot, 'die'), is: { state: 'dead' } },
  'cancelled while waiting': {
    async make(spot) {
      const id = await held(spot, 'return', { delay: '1d' })
      await spot.mill.cancel(id)
      return id
    },
    is: { state: 'cancelled' },
  },
  'cancelled while running': {
    async make(spot) {
      const id = await held(spot, 'wait')
      await spot.mill.cancel(id)
      await spot.mill.platform.settled()
      return id
    },
    is: { state: 'cancelled' },
  },
  'deleted while waiting': {
    async make(spot) {
      const id = await held(spot, 'return', { delay: '1d' })
      await spot.mill.delete(id)
      return id
    },
    is: null,
  },
}
