/** Logs: written while an attempt is running, and kept with it however it ends. */
import assert from 'node:assert/strict'
import { DEFAULTS, type FullStore } from 'jobmill/store'
import { aJob } from '../../factories.ts'
import { DEAD, DONE, HOUR, RELEASED, aFinish, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { changesNothing, repeat } from '../looks.ts'

/** The maximum log length, with many different characters, so that compression cannot shorten it. */
const LONG = Array.from({ length: DEFAULTS.logLimitChars / 2 }, (_, n) =>
  String.fromCodePoint(0x1_00_00 + ((n * 7_919) % 0xff_ff)),
).join('')

async function logsOf(store: FullStore, id: string): Promise<(string | null)[]> {
  return (await store.history(id)).map(({ log }) => log)
}

export const logCases: readonly Case[] = [
  test('the log of a running attempt can be read, and a new text replaces the previous one', async (t) => {
    const { store, running, jobIs } = t
    const { id, token } = await running()
    await jobIs(id, { log: null })
    for (const log of ['one', 'one\ntwo', '', LONG]) {
      assert.deepEqual(await store.progress([{ id, token, log }]), [true])
      await jobIs(id, { log })
    }
    await jobIs(id, { progress: null, state: 'running' })
  }),
  test('a progress call leaves omitted fields unchanged, also inside one call', async (t) => {
    const { store, running, job } = t
    const { id, token } = await running()
    const noted = async (): Promise<unknown[]> => [(await job(id)).progress, (await job(id)).log]
    await store.progress([{ id, token, value: '1', log: 'one' }])
    await store.progress([{ id, token, value: 'null' }])
    assert.deepEqual(await noted(), ['null', 'one'])
    await store.progress([{ id, token, log: 'two' }])
    assert.deepEqual(await noted(), ['null', 'two'])
    const several = [
      { id, token, value: '2' },
      { id, token, log: 'three' },
      { id, token, value: '3' },
    ]
    assert.deepEqual(await store.progress(several), [true, true, true])
    assert.deepEqual(await noted(), ['3', 'three'])
  }),
  test('P2 a log under a stale token is refused and changes nothing', async (t) => {
    const { store, running, finish, crash, runningJobs } = t
    const [done, released, reaped] = await runningJobs(3)
    await finish(done, DONE)
    await finish(released, RELEASED)
    await crash()
    const current = await running()
    const stale = [done, released, reaped, { id: current.id, token: current.token - 1 }, aJob()].map(
      (lease) => ({ id: lease.id, token: 'token' in lease ? lease.token : 1, log: 'stale' }),
    )
    assert.deepEqual(await changesNothing(store, () => store.progress(stale)), repeat(false, stale.length))
  }),
  test('an attempt keeps the log of its finish, or else the last one written', async (t) => {
    const { store, finish, job, runningJobs } = t
    for (const transition of [DONE, DEAD, { to: 'cancelled' }, later(0), later(HOUR)] as const) {
      const leases = await runningJobs(4)
      const [noted, withFinish, empty, none] = leases
      await store.progress(leases.slice(0, 3).map(({ id, token }) => ({ id, token, log: 'noted' })))
      await store.finish([
        aFinish(noted, transition),
        aFinish(withFinish, transition, { log: 'brought' }),
        aFinish(empty, transition, { log: '' }),
      ])
      await finish(none, transition)
      const logs = await Promise.all(leases.map(({ id }) => logsOf(store, id)))
      assert.deepEqual(logs, [['noted'], ['brought'], [''], [null]], transition.to)
      for (const { id } of leases) assert.equal((await job(id)).log, null)
    }
  }),
  test('an attempt that is not recorded leaves no log, and the next one starts without', async (t) => {
    const { store, running, finish, jobIs, claimAgain } = t
    const lease = await running()
    const next = async (): Promise<typeof lease> => claimAgain(lease)
    const note = ({ id, token }: typeof lease, log: string): Promise<boolean[]> =>
      store.progress([{ id, token, log }])
    await note(lease, 'first')
    await finish(lease, RELEASED, { log: 'brought' })
    const second = await next()
    await jobIs(lease.id, { log: null })
    await note(second, 'second')
    await finish(second, later(0))
    const third = await next()
    await jobIs(lease.id, { log: null })
    await finish(third, later(0))
    const fourth = await next()
    await note(fourth, 'fourth')
    await finish(fourth, DONE)
    assert.deepEqual(await logsOf(store, lease.id), ['second', null, 'fourth'])
  }),
  test('P4 P5 a crash does not lose the log: it is kept with the attempt, whatever happens to the job', async (t) => {
    const { store, running, runningJobs, crash, jobIs } = t
    const [again, cancelled] = await runningJobs(2)
    await store.progress([again, cancelled].map(({ id, token }) => ({ id, token, log: LONG })))
    await store.cancel([cancelled.id], 'stop it')
    await crash()
    const dead = await running()
    await store.progress([{ id: dead.id, token: dead.token, log: 'dead' }])
    await crash(1)
    for (const [{ id }, state, log] of [
      [again, 'ready', LONG],
      [cancelled, 'cancelled', LONG],
      [dead, 'dead', 'dead'],
    ] as const) {
      await jobIs(id, { state, log: null })
      assert.deepEqual(await logsOf(store, id), [log])
    }
  }),
  test('P6 P8 a cancelled attempt keeps its log, after a finish and after the end of the instance', async (t) => {
    const { store, finish, runningJobs } = t
    const leases = await runningJobs(3)
    const [noted, withFinish, stopped] = leases
    await store.progress(leases.map(({ id, token }) => ({ id, token, log: 'noted' })))
    await store.cancel(
      leases.map(({ id }) => id),
      'stop it',
    )
    await finish(noted, RELEASED)
    await finish(withFinish, later(HOUR), { log: 'brought' })
    await store.instances.deregister(stopped.instance)
    const logs = await Promise.all(leases.map(({ id }) => logsOf(store, id)))
    assert.deepEqual(logs, [['noted'], ['brought'], ['noted']])
  }),
  test('P3 a repeated finish changes no log', async ({ store, running, finish }) => {
    const lease = await running()
    await finish(lease, later(HOUR), { log: 'first' })
    await changesNothing(store, () => finish(lease, later(HOUR), { log: 'again' }))
  }),
  {
    name: 'P10 a finish in a transaction stores the log on commit, and leaves it unchanged on rollback',
    needs: ['transactions'],
    async run({ store, transaction, running }) {
      const lease = await running()
      await store.progress([{ id: lease.id, token: lease.token, log: 'noted' }])
      await changesNothing(store, () =>
        transaction((tx) => store.finish([aFinish(lease, DONE, { log: 'brought' })], { tx }), 'rollback'),
      )
      await transaction((tx) => store.finish([aFinish(lease, DONE)], { tx }), 'commit')
      assert.deepEqual(await logsOf(store, lease.id), ['noted'])
    },
  },
]
