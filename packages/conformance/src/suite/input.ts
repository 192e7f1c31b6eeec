/** Input that a store rejects before it writes anything, and input that it normalizes. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type ErrorCode, type FullStore, type HandOff } from 'jobmill/store'
import { aClaim, aHandOff, aJob, anInstance, aHeartbeat, aRetain } from '../factories.ts'
import { aFinish, DEAD, later } from './bench.ts'
import type { Case } from './case.ts'
import { countsOf, rejectsWith } from './looks.ts'

const NO_ID = 'not an id'
const LEASE = { id: '00000000-0000-7000-8000-000000000001', token: 1 }
const LARGE = JSON.stringify('x'.repeat(1024 * 1024))

function withRoom(room: number): HandOff {
  return aHandOff(LEASE.id, { queues: [{ queue: 'a', room }] })
}

/** Every verb with an invalid value. */
const REFUSED: readonly (readonly [ErrorCode, (store: FullStore) => Promise<unknown>])[] = [
  ['ID_INVALID', (store) => store.get([NO_ID])],
  ['ID_INVALID', (store) => store.results([NO_ID])],
  ['ID_INVALID', (store) => store.history(NO_ID)],
  ['NAME_INVALID', (store) => store.inspect.holders([''])],
  ['ID_INVALID', (store) => store.cancel([NO_ID], 'no')],
  ['ID_INVALID', (store) => store.retry([NO_ID])],
  ['ID_INVALID', (store) => store.runNow([NO_ID])],
  ['ID_INVALID', (store) => store.delete([NO_ID])],
  ['ID_INVALID', (store) => store.instances.held(NO_ID)],
  ['ID_INVALID', (store) => store.instances.register(anInstance({ id: NO_ID }))],
  ['ID_INVALID', (store) => store.instances.renew(aHeartbeat(NO_ID))],
  ['ID_INVALID', (store) => store.instances.deregister(NO_ID)],
  ['ID_INVALID', (store) => store.claim(aClaim(NO_ID))],
  ['ID_INVALID', (store) => store.progress([{ id: NO_ID, token: 1, value: '1' }])],
  ['ID_INVALID', (store) => store.finish([aFinish({ id: NO_ID, token: 1 }, DEAD)])],
  ['NUMBER_INVALID', (store) => store.claim(aClaim(anInstance().id, { limit: 501 }))],
  ['NUMBER_INVALID', (store) => store.claim(aClaim(anInstance().id, { queues: [{ queue: 'a', room: -1 }] }))],
  ['ID_INVALID', (store) => store.enqueue([aJob()], { handOff: aHandOff(NO_ID) })],
  ['NUMBER_INVALID', (store) => store.enqueue([aJob()], { handOff: withRoom(-1) })],
  ['NUMBER_INVALID', (store) => store.enqueue([aJob()], { handOff: withRoom(1.5) })],
  ['NUMBER_INVALID', (store) => store.enqueue([aJob()], { handOff: withRoom(10_001) })],
  ['OPTION_INVALID', (store) => store.enqueue([aJob()], { handOff: null as never })],
  ['OPTION_UNKNOWN', (store) => store.enqueue([aJob()], { handOff: { ...withRoom(1), limit: 1 } as never })],
  ['NUMBER_INVALID', (store) => store.stage(0)],
  ['NUMBER_INVALID', (store) => store.retain(aRetain({ limit: 1.5 }))],
  ['NUMBER_INVALID', (store) => store.fold(Number.NaN)],
  ['NUMBER_INVALID', (store) => store.instances.reap({ crashesUntilDead: 3, limit: 0 })],
  ['NUMBER_INVALID', (store) => store.list({}, { limit: 501 })],
  ['NUMBER_INVALID', (store) => store.instances.register(anInstance({ leaseMs: -1 }))],
  ['NUMBER_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { ranMs: Number.NaN })])],
  ['NUMBER_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { cool: { forMs: -1 } })])],
  ['OPTION_INVALID', (store) => store.finish([aFinish(LEASE, { to: 'running' } as never)])],
  [
    'OPTION_INVALID',
    (store) => store.finish([aFinish(LEASE, { to: 'done', result: null, forget: 1 as never })]),
  ],
  ['OPTION_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { outcome: 'ok' as never })])],
  ['OPTION_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { outcome: undefined as never })])],
  ['PAYLOAD_NOT_JSON', (store) => store.finish([aFinish(LEASE, { to: 'done', result: 'hello' })])],
  ['PAYLOAD_NOT_JSON', (store) => store.progress([{ ...LEASE, value: '{' }])],
  ['OPTION_INVALID', (store) => store.progress([LEASE])],
  ['OPTION_INVALID', (store) => store.progress([{ ...LEASE, log: 1 as never }])],
  ['PAYLOAD_TOO_LARGE', (store) => store.progress([{ ...LEASE, log: 'x'.repeat(65_537) }])],
  ['NAME_INVALID', (store) => store.instances.register(anInstance({ kinds: ['a'], onDead: ['a', 'a b'] }))],
  ['OPTION_INVALID', (store) => store.instances.register(anInstance({ kinds: ['a'], onDead: ['b'] }))],
  ['PAYLOAD_TOO_LARGE', (store) => store.finish([aFinish(LEASE, { to: 'done', result: LARGE })])],
  ['OPTION_INVALID', (store) => store.claim(aClaim(LEASE.id, { quarantined: 'skipp' as never }))],
  ['OPTION_INVALID', (store) => store.list({ state: 'redy' as never }, { limit: 1 })],
  ['OPTION_UNKNOWN', (store) => store.list({ stat: 'ready' } as never, { limit: 1 })],
  ['OPTION_INVALID', (store) => store.get('an id' as never)],
  ['OPTION_UNKNOWN', (store) => store.queues.change('a', { paused: true } as never)],
  [
    'OPTION_UNKNOWN',
    (store) => store.queues.change('a', { settings: { pasued: true } as never, coolMs: null }),
  ],
  ['NAME_INVALID', (store) => store.queues.declare([{ name: 'my queue', settings: DEFAULT_QUEUE_SETTINGS }])],
  [
    'NUMBER_INVALID',
    (store) => store.queues.declare([{ name: 'a', settings: { ...DEFAULT_QUEUE_SETTINGS, workers: -5 } }]),
  ],
]

export const inputCases: readonly Case[] = [
  {
    name: 'every verb rejects invalid input with a code, and writes nothing',
    async run({ store }) {
      for (const [code, act] of REFUSED) await rejectsWith(code, () => act(store))
      assert.deepEqual(await store.instances.list(), [])
      assert.deepEqual(await store.counts(), [])
      assert.deepEqual(await store.queues.list(), [])
    },
  },
  {
    name: 'an id is the same in upper and lower case',
    async run({ store, enqueue }) {
      const id = await enqueue()
      assert.equal((await store.get([id.toUpperCase()]))[0]?.id, id)
      assert.equal((await store.cancel([id.toUpperCase()], 'no'))[0]?.verdict, 'changed')
    },
  },
  {
    name: 'P3 errors and reasons are stored whatever they contain',
    async run({ store, running, finish, job }) {
      const odd = 'a\u0000b \ud800 "quoted" \\ $1 jobmill.job \'; -- \n é 😀'
      const fit = 'a\ufffdb \ufffd "quoted" \\ $1 jobmill.job \'; -- \n é 😀'
      const [one, two, three] = [await running(), await running(), await running()]
      await finish(one, later(10), { error: odd })
      assert.equal((await job(one.id)).error, fit)
      await store.cancel([two.id], odd)
      assert.equal((await job(two.id)).cancelReason, fit)
      await finish(three, DEAD, { error: '😀'.repeat(4_000) })
      const { error } = await job(three.id)
      assert.ok(error !== null && error.length <= 4_096 && error.isWellFormed())
      assert.deepEqual(await countsOf(store), { scheduled: 1, running: 1, dead: 1 })
    },
  },
]
