/** `progress`: the progress and log of a running attempt, and the log stored in the history after it ends. */
import assert from 'node:assert/strict'
import { DEFAULTS, type Lease } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, HOUR, later, RELEASED } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, repeat } from '../looks.ts'

/** The maximum log length, with many different characters, so that compression cannot shorten it. */
const LONG = Array.from({ length: DEFAULTS.logLimitChars / 2 }, (_, n) =>
  String.fromCodePoint(0x1_00_00 + ((n * 7_919) % 0xff_ff)),
).join('')

/** Reports progress or a log for each of these attempts. */
function report(
  { store }: Bench,
  leases: readonly Pick<Lease, 'id' | 'token'>[],
  what: { readonly value?: string; readonly log?: string },
): Promise<boolean[]> {
  return store.progress(leases.map(({ id, token }) => ({ id, token, ...what })))
}

/** Checks the logs of the attempts of each job. */
async function logsAre(
  { store }: Bench,
  leases: readonly Pick<Lease, 'id'>[],
  expected: readonly (readonly (string | null)[])[],
  message?: string,
): Promise<void> {
  const histories = await Promise.all(leases.map(({ id }) => store.history(id)))
  assert.deepEqual(
    histories.map((history) => pluck(history, 'log')),
    expected,
    message,
  )
}

export const runningCases: readonly Case[] = [
  test('progress of a running attempt can be read, and the last value counts; no items do nothing', async (t) => {
    const lease = await t.running()
    await t.jobIs(lease.id, { progress: null })
    assert.deepEqual(await t.store.progress([]), [])
    assert.deepEqual(await report(t, [lease], { value: '{"step":1}' }), [true])
    await t.jobIs(lease.id, { progress: '{"step":1}', log: null })
    const twice = ['2', '3'].map((value) => ({ id: lease.id, token: lease.token, value }))
    assert.deepEqual(await t.store.progress(twice), [true, true])
    await t.jobIs(lease.id, { progress: '3', state: 'running' })
  }),
  test('the log of a running attempt can be read, and a new text replaces the previous one', async (t) => {
    const lease = await t.running()
    await t.jobIs(lease.id, { log: null })
    for (const log of ['one', 'one\ntwo', '', LONG]) {
      assert.deepEqual(await report(t, [lease], { log }), [true])
      await t.jobIs(lease.id, { log })
    }
    await t.jobIs(lease.id, { progress: null, state: 'running' })
  }),
  test('a progress call leaves omitted fields unchanged, also inside one call', async (t) => {
    const { id, token } = await t.running()
    await t.store.progress([{ id, token, value: '1', log: 'one' }])
    await t.store.progress([{ id, token, value: 'null' }])
    await t.jobIs(id, { progress: 'null', log: 'one' })
    await t.store.progress([{ id, token, log: 'two' }])
    await t.jobIs(id, { progress: 'null', log: 'two' })
    const several = [{ value: '2' }, { log: 'three' }, { value: '3' }].map((one) => ({ id, token, ...one }))
    assert.deepEqual(await t.store.progress(several), [true, true, true])
    await t.jobIs(id, { progress: '3', log: 'three' })
  }),
  test('P2 progress and logs under a stale token are refused and change nothing', async (t) => {
    const [done, released, retried, reaped] = await t.runningJobs(4)
    await t.finish(done, DONE)
    await t.finish(released, RELEASED)
    await t.finish(retried, later(HOUR))
    await t.crash()
    const { id, token } = await t.running()
    const waiting = await t.enqueue()
    const others = [waiting, aJob().id].map((other) => ({ id: other, token }))
    const stale = [done, released, retried, reaped, { id, token: token - 1 }, ...others]
    for (const what of [{ value: '"stale"' }, { log: 'stale' }]) {
      const replies = await t.changesNothing(() => report(t, stale, what))
      assert.deepEqual(replies, repeat(false, stale.length))
    }
    assert.deepEqual(await report(t, [done, { id, token }], { value: '1' }), [false, true])
    await t.jobIs(id, { progress: '1', log: null })
  }),
  test('an attempt keeps the log of its finish, or else the last one written', async (t) => {
    for (const transition of [DONE, DEAD, { to: 'cancelled' }, later(0), later(HOUR)] as const) {
      const leases = await t.runningJobs(4)
      const [noted, withFinish, empty, none] = leases
      await report(t, [noted, withFinish, empty], { log: 'noted' })
      await t.store.finish([
        aFinish(noted, transition),
        aFinish(withFinish, transition, { log: 'brought' }),
        aFinish(empty, transition, { log: '' }),
      ])
      await t.finish(none, transition)
      await logsAre(t, leases, [['noted'], ['brought'], [''], [null]], transition.to)
      for (const { id } of leases) await t.jobIs(id, { log: null })
    }
  }),
  test('an attempt that is not recorded leaves no log, and the next one starts without log and progress', async (t) => {
    const first = await t.running()
    const next = async (): Promise<typeof first> => {
      const lease = await t.claimAgain(first)
      await t.jobIs(first.id, { log: null, progress: null })
      return lease
    }
    await report(t, [first], { log: 'first', value: '"half"' })
    await t.finish(first, RELEASED, { log: 'brought' })
    const second = await next()
    await report(t, [second], { log: 'second', value: '"half"' })
    await t.finish(second, later(0))
    await t.finish(await next(), later(0))
    const fourth = await next()
    await report(t, [fourth], { log: 'fourth' })
    await t.finish(fourth, DONE)
    await logsAre(t, [first], [['second', null, 'fourth']])
  }),
  test('P4 P5 a crash does not lose the log: it is kept with the attempt, whatever happens to the job', async (t) => {
    const [again, cancelled] = await t.runningJobs(2)
    await report(t, [again, cancelled], { log: LONG })
    await t.store.cancel([cancelled.id], 'stop it')
    await t.crash()
    const dead = await t.running()
    await report(t, [dead], { log: 'dead' })
    await t.crash(1)
    await t.jobIs(again.id, { state: 'ready', log: null })
    await t.jobIs(cancelled.id, { state: 'cancelled', log: null })
    await t.jobIs(dead.id, { state: 'dead', log: null })
    await logsAre(t, [again, cancelled, dead], [[LONG], [LONG], ['dead']])
  }),
  test('P6 P8 a cancelled attempt keeps its log, after a finish and after the end of the instance', async (t) => {
    const leases = await t.runningJobs(3)
    const [noted, withFinish, stopped] = leases
    await report(t, leases, { log: 'noted' })
    await t.store.cancel(pluck(leases, 'id'), 'stop it')
    await t.finish(noted, RELEASED)
    await t.finish(withFinish, later(HOUR), { log: 'brought' })
    await t.store.instances.deregister(stopped.instance)
    await logsAre(t, leases, [['noted'], ['brought'], ['noted']])
  }),
  test('P3 a repeated finish changes no log', async (t) => {
    const lease = await t.running()
    await t.finish(lease, later(HOUR), { log: 'first' })
    await t.changesNothing(() => t.finish(lease, later(HOUR), { log: 'again' }))
  }),
  {
    name: 'P10 a finish in a transaction stores the log on commit, and leaves it unchanged on rollback',
    needs: ['transactions'],
    async run(t) {
      const lease = await t.running()
      await report(t, [lease], { log: 'noted' })
      await t.changesNothing(() =>
        t.transaction((tx) => t.store.finish([aFinish(lease, DONE, { log: 'brought' })], { tx }), 'rollback'),
      )
      await t.transaction((tx) => t.store.finish([aFinish(lease, DONE)], { tx }), 'commit')
      await logsAre(t, [lease], [['noted']])
    },
  },
]
