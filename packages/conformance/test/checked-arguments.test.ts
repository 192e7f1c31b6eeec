// What stores may rely on: the oracle rejects arguments that the runtime must never pass to a store.
import { expect, test } from 'vitest'
import {
  anAlert,
  aClaim,
  aDirectDispatch,
  aFinish,
  aHeartbeat,
  aJob,
  anAcquire,
  anInstance,
  aRetain,
  aTick,
  DEAD,
} from '../src/factories.ts'
import { oracle, oracleDatabase } from '../src/oracle/oracle.ts'
import type { FullStore } from '../../jobmill/src/store/store.ts'

const NO_ID = 'not an id'
const ID = '00000000-0000-7000-8000-00000000000a'
const LEASE = { id: ID, token: 1 }
const LARGE = JSON.stringify('x'.repeat(1024 * 1024))

test.each<[string, (store: FullStore) => Promise<unknown>]>([
  ['ID_INVALID', (store) => store.get([NO_ID])],
  ['ID_INVALID', (store) => store.get([ID.toUpperCase()])],
  ['ID_INVALID', (store) => store.results([NO_ID])],
  ['ID_INVALID', (store) => store.history(NO_ID)],
  ['ID_INVALID', (store) => store.cancel([NO_ID], 'no')],
  ['OPTION_INVALID', (store) => store.cancel([ID], 'a\u0000b')],
  ['ID_INVALID', (store) => store.retry([NO_ID])],
  ['ID_INVALID', (store) => store.runNow([NO_ID])],
  ['ID_INVALID', (store) => store.delete([NO_ID])],
  ['ID_INVALID', (store) => store.claim(aClaim(NO_ID))],
  ['NUMBER_INVALID', (store) => store.claim(aClaim(ID, { limit: 501 }))],
  ['NUMBER_INVALID', (store) => store.claim(aClaim(ID, { queues: [{ queue: 'a', room: -1 }] }))],
  [
    'NUMBER_INVALID',
    (store) =>
      store.enqueue([aJob()], {
        directDispatch: aDirectDispatch(ID, { queues: [{ queue: 'a', room: 1.5 }] }),
      }),
  ],
  ['ID_INVALID', (store) => store.progress([{ id: NO_ID, token: 1, value: '1' }])],
  ['PAYLOAD_NOT_JSON', (store) => store.progress([{ ...LEASE, value: '{' }])],
  ['OPTION_INVALID', (store) => store.progress([LEASE])],
  ['OPTION_INVALID', (store) => store.progress([{ ...LEASE, log: 'x'.repeat(65_537) }])],
  ['ID_INVALID', (store) => store.finish([aFinish({ id: NO_ID, token: 1 }, DEAD)])],
  ['NUMBER_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { ranMs: Number.NaN })])],
  ['NUMBER_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { cool: { forMs: -1 } })])],
  ['OPTION_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { outcome: null })])],
  ['OPTION_INVALID', (store) => store.finish([aFinish(LEASE, DEAD, { error: '\ud800' })])],
  ['PAYLOAD_NOT_JSON', (store) => store.finish([aFinish(LEASE, { to: 'done', result: 'hello' })])],
  ['PAYLOAD_TOO_LARGE', (store) => store.finish([aFinish(LEASE, { to: 'done', result: LARGE })])],
  ['NUMBER_INVALID', (store) => store.stage(0)],
  ['NUMBER_INVALID', (store) => store.fold(Number.NaN)],
  ['NUMBER_INVALID', (store) => store.retain(aRetain({ limit: 1.5 }))],
  ['NUMBER_INVALID', (store) => store.list({}, { limit: 501 })],
  ['NAME_INVALID', (store) => store.queues.declare([{ name: 'my queue', settings: null }])],
  ['ID_INVALID', (store) => store.instances.register(anInstance({ id: NO_ID }))],
  ['OPTION_INVALID', (store) => store.instances.register(anInstance({ kinds: ['a'], onDead: ['b'] }))],
  ['ID_INVALID', (store) => store.instances.renew(aHeartbeat(NO_ID))],
  ['ID_INVALID', (store) => store.instances.deregister(NO_ID)],
  ['NUMBER_INVALID', (store) => store.instances.reap({ crashesUntilDead: 3, limit: 0 })],
  ['NUMBER_INVALID', (store) => store.instances.assign([{ instance: ID, queue: 'a', workers: -1 }])],
  ['NAME_INVALID', (store) => store.inspect.holders([''])],
  ['NAME_INVALID', (store) => store.schedules.tick([aTick('my schedule')])],
  ['NUMBER_INVALID', (store) => store.limits.acquire([anAcquire('api', { amount: 0 })])],
  ['NAME_INVALID', (store) => store.limits.drain('api key', 5)],
  ['NAME_INVALID', (store) => store.alerts.put(anAlert('my alert'))],
  ['NUMBER_INVALID', (store) => store.alerts.put(anAlert('a', { revision: -1 }))],
  ['ID_INVALID', (store) => store.metrics.record({ source: 'me', seq: 1, deltas: [], own: [], events: [] })],
  ['NUMBER_INVALID', (store) => store.metrics.timeline({ limit: 0 })],
])('%s: %s', async (code, act) => {
  const store = oracle(oracleDatabase(), { clock: Date.now })
  await store.open()
  await expect(act(store)).rejects.toMatchObject({ code })
})
