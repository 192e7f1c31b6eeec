/** Jobs that hold a dedupe key in every state that a job can be in, made through a mill as a user would. */
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

/** Tests share a database: each has a queue of its own, and a key of its own with it. */
export const queueOf = ({ queuesServed }: TestMill): string => queuesServed[0] ?? ''
export const keyOf = (mill: TestMill): string => `of ${queueOf(mill)}`

export interface Holder {
  readonly make: (mill: TestMill) => Promise<string>
  /** What is known of the holder then; null when it is gone. */
  readonly is: Partial<JobView> | null
}

async function made(mill: TestMill, act: Payload['act'], options: EnqueueOptions = {}): Promise<string> {
  const { id } = await mill.enqueue(keyed, { act, n: 0 }, { dedupeKey: keyOf(mill), ...options })
  await mill.platform.settled()
  return id
}

function held(mill: TestMill, act: Payload['act'], options: EnqueueOptions = {}): Promise<string> {
  const dedupe = { key: keyOf(mill), holdFor: '5s' } as const
  return made(mill, act, { ...options, dedupe, dedupeKey: undefined as never })
}

/** Holders that still have the key. */
export const HOLDING: Readonly<Record<string, Holder>> = {
  scheduled: {
    make: (mill) => made(mill, 'return', { delay: '1d' }),
    is: { state: 'scheduled', attempt: 0 },
  },
  ready: {
    async make(mill) {
      await mill.pause(queueOf(mill))
      return made(mill, 'return')
    },
    is: { state: 'ready', attempt: 0 },
  },
  'between attempts': { make: (mill) => made(mill, 'throw'), is: { state: 'scheduled', attempt: 1 } },
  running: { make: (mill) => made(mill, 'wait'), is: { state: 'running', attempt: 1 } },
  'running although it was cancelled': {
    async make(mill) {
      const id = await made(mill, 'ignore')
      await mill.cancel(id, 'no longer wanted')
      return id
    },
    is: { state: 'running', cancelReason: 'no longer wanted' },
  },
  'done and held': {
    async make(mill) {
      const id = await held(mill, 'return')
      await mill.clock.advance(4_999)
      return id
    },
    is: { state: 'done' },
  },
  'done, held and deleted': {
    async make(mill) {
      const id = await held(mill, 'return')
      await mill.delete(id)
      return id
    },
    is: null,
  },
}

/** Holders that had it, and have it no more. */
export const ENDED: Readonly<Record<string, Holder>> = {
  'done without a hold': { make: (mill) => made(mill, 'return'), is: { state: 'done' } },
  'done, and its hold over': {
    async make(mill) {
      const id = await held(mill, 'return')
      await mill.clock.advance(5_000)
      return id
    },
    is: { state: 'done' },
  },
  dead: { make: (mill) => held(mill, 'die'), is: { state: 'dead' } },
  'cancelled while it waited': {
    async make(mill) {
      const id = await held(mill, 'return', { delay: '1d' })
      await mill.cancel(id)
      return id
    },
    is: { state: 'cancelled' },
  },
  'cancelled while it ran': {
    async make(mill) {
      const id = await held(mill, 'wait')
      await mill.cancel(id)
      await mill.platform.settled()
      return id
    },
    is: { state: 'cancelled' },
  },
  'deleted while it waited': {
    async make(mill) {
      const id = await held(mill, 'return', { delay: '1d' })
      await mill.delete(id)
      return id
    },
    is: null,
  },
}
