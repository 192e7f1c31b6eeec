/** `jobmill limits …` and `jobmill workers`. */
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { anInstance } from '../../../conformance/src/factories.ts'
import { call, file, places } from './run.ts'

interface Workers {
  instances: { id: string; state: string; running: number; slots: object[] }[]
  duties: { name: string; leader: string | null }[]
}

/** A job that runs until it is aborted, and a promise that it has started. */
function holding() {
  const { promise: whenStarted, resolve } = Promise.withResolvers<void>()
  const hold = defineJob({
    kind: 'hold',
    run: ({ signal }) =>
      new Promise((_, reject) => {
        resolve()
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  })
  return { hold, whenStarted }
}

describe.each(places)('the cluster on $name', { timeout: 60_000 }, ({ name, create }) => {
  const test = inTurns(name, places)
  test('limits: set creates one, drain empties it, list shows it', async () => {
    const place = create()
    const made = await place.run('limits set smtp --rate 50 --per 1m --burst 10'.split(' '))
    expect(made).toMatchObject({ code: 0, out: 'created smtp: --rate 50 --per 1m --burst 10\n' })
    const drained = await place.run(['limits', 'drain', 'smtp', '--for', '1h'])
    expect(drained.out).toBe('drained smtp: blocked for 1h\n')
    const { out } = await place.run(['limits', 'list'])
    expect(out).toMatch(/^smtp +--rate 50 --per 1m --burst 10 +0 +- +(?:1h|59m\S+) +for (?:1h|59m\S+) +-$/m)
    const keyed = await place.run('limits set chat --rate 1 --burst 3 --per-key'.split(' '))
    expect(keyed.out).toBe('created chat: --rate 1 --per 1s --burst 3 --per-key\n')
    const one = await place.run(['limits', 'drain', 'chat', '--key', 'bot 7', '--for', '17m'])
    expect(one.out).toBe('drained chat bot 7: blocked for 17m\n')
    const { out: after } = await place.run(['limits', 'list'])
    expect(after).toMatch(/^chat +--rate 1 --per 1s --burst 3 --per-key +3 +- +- +- +1$/m)
  })

  test('limits: delete asks first, and is refused while a queue uses the limit', async () => {
    const place = create()
    const mill = place.mill()
    await mill.limits.create('smtp', { rate: 5 })
    await mill.enqueue('email.send', 1, { queue: 'mail' })
    await mill.changeQueue('mail', { limit: 'smtp' })
    const asked = await place.run(['limits', 'delete', 'smtp'])
    const used = await place.run(['limits', 'delete', 'smtp', '--yes'])
    expect([asked.code, used.code]).toEqual([2, 3])
    expect(used.err).toBe(
      'error   NAME: is used by queue "mail" (got "smtp"). Run "jobmill queues set mail --limit none" first.\n',
    )
    expect(await mill.limits.list()).toMatchObject([{ name: 'smtp' }])
    await mill.changeQueue('mail', { limit: null })
    expect(await place.json(['limits', 'delete', 'smtp', '--yes'])).toEqual({ name: 'smtp', deleted: true })
    expect(await mill.limits.list()).toEqual([])
  })

  test('workers: lists the processes, their jobs, and the leaders', async () => {
    const { hold, whenStarted } = holding()
    const place = create()
    const mill = place.mill([hold])
    await mill.enqueue(hold, null)
    await mill.start()
    await whenStarted
    const { out } = await place.run(['workers'])
    expect(out).toMatch(new RegExp(`^${mill.instance.id} +\\S+ +alive +.+ +1 +- +default$`, 'm'))
    expect(out).toMatch(/^duty +leader +last success +failures$/m)
    expect(out).toMatch(/^schedule +\S+ +.+ +0$/m)
  })
})

describe('the cluster on sqlite', () => {
  test('workers quiet, resume and stop take an id or a label, and show the state', async () => {
    const { hold, whenStarted } = holding()
    const { path: at, mill } = file([hold])
    const { id } = mill.instance
    await mill.enqueue(hold, null)
    await mill.start()
    await whenStarted
    const quiet = await call(at, ['workers', 'quiet', id])
    expect(quiet).toMatchObject({ code: 0, out: `${id} quiet; running jobs continue\n` })
    expect((await call(at, ['workers'])).out).toMatch(new RegExp(`^${id} +- +quiet +.+ +1 +- +default$`, 'm'))
    const waited = await call(at, ['workers', 'quiet', id, '--wait-for', '1ms'])
    expect(waited).toMatchObject({
      code: 1,
      out: '',
      err: 'error   --wait-for: 1 job still running (got "1ms"). Wait longer, or run jobmill workers stop.\n',
    })
    const resumed = JSON.parse((await call(at, ['workers', 'resume', id, '--json'])).out) as Workers
    expect(resumed.instances).toMatchObject([{ id, state: 'alive', requested: null, requestedBy: null }])
    expect(await call(at, ['workers', 'stop', id], false)).toMatchObject({
      code: 3,
      out: `stop ${id}? [y/N] `,
      err: 'nothing was stopped\n',
    })
    const stopped = await call(at, ['workers', 'stop', id, '--yes'])
    expect(stopped).toMatchObject({ code: 0, out: `${id} stopping; running jobs get the grace period\n` })
    expect(await mill.instances()).toMatchObject([{ id, requested: 'stop', requestedBy: 'cli' }])
    expect(await call(at, ['workers', 'resume', id])).toMatchObject({
      code: 3,
      err: `error   NAME: was asked to stop, which cannot be undone (got "${id}"). Wait for it to stop, and start a new process.\n`,
    })
  })

  test('workers quiet finds a process by its label, waits for its jobs, and refuses an unknown or shared name', async () => {
    const { path: at, mill } = file()
    const labels = ['web-1', 'web-2', 'web-2']
    const ids = labels.map(() => anInstance().id)
    await mill.open()
    const store = sqlite(at)
    await store.open()
    for (const [n, id] of ids.entries())
      await store.instances.register(anInstance({ id, label: labels[n] ?? null, leaseMs: 60_000 }))
    await store.close()
    const done = await call(at, ['workers', 'quiet', 'web-1', '--wait-for', '1m'])
    expect(done).toMatchObject({ code: 0, out: 'web-1 quiet; no job is running\n' })
    const near = await call(at, ['workers', 'quiet', 'wep-1'])
    expect(near).toMatchObject({ code: 3, out: '' })
    expect(near.err).toContain(
      'NAME: no running process has this id or label (got "wep-1"). Did you mean "web-1"?',
    )
    const shared = await call(at, ['workers', 'quiet', 'web-2'])
    expect(shared.code).toBe(2)
    expect(shared.err).toContain('NAME: 2 processes have this label (got "web-2"). Use one of the ids ')
    // All names are checked first.
    await call(at, ['workers', 'resume', 'web-1', 'nope'])
    expect((await mill.instances()).find(({ label }) => label === 'web-1')).toMatchObject({
      requested: 'quiet',
    })
  })

  test('limits: omitted options keep their values, and the workers of a queue with a total are shared', async () => {
    const { path: at, mill } = file()
    await mill.limits.create('smtp', { rate: 50, per: '1m', burst: 10 })
    const { out } = await call(at, ['limits', 'set', 'smtp', '--rate', '100'])
    expect(out).toBe('smtp  --rate 50 --per 1m --burst 10 → --rate 100 --per 1m --burst 10\n')
    const db = await call(at, ['limits', 'set', 'db', '--concurrency', '5', '--json'])
    expect(JSON.parse(db.out)).toMatchObject({
      before: null,
      after: { settings: { type: 'concurrency', most: 5 } },
    })
    const no = await call(at, ['limits', 'delete', 'smtp'], false)
    expect(no).toMatchObject({ code: 3, out: 'delete smtp (--rate 100 --per 1m --burst 10)? [y/N] ' })
    expect((await call(at, ['limits', 'delete', 'smtp'], true)).out).toContain('deleted smtp\n')
    expect((await call(at, ['limits', 'list'])).out).toMatch(/^db +--concurrency 5 +5 +0 +- +- +-$/m)
  })

  test.each([
    [
      ['drain', 'smpt', '--for', '1s'],
      3,
      'NAME: no limit has this name (got "smpt"). No limits exist yet; create it with jobmill limits set.',
    ],
    [['drain', 'smtp', '--for', 'soon'], 2, '--for: must be a duration'],
    [['drain', 'smtp', '--for', '30'], 2, '--for: has no unit (got "30")'],
    [['set', 'smtp', '--rate', '5', '--per', '60'], 2, '--per: has no unit (got "60")'],
    [
      ['delete', 'smtp', '--yes'],
      3,
      'NAME: no limit has this name (got "smtp"). Run "jobmill limits list" to see all limits',
    ],
    [['set', 'smtp', '--rate', '0'], 2, '--rate: is out of bounds'],
    [
      ['set', 'smtp', '--per', '1s'],
      2,
      'NAME: must have a rate or a concurrency. Pass --rate 50 --per 1m, or --concurrency 5.',
    ],
    [['set', 'smtp', '--rate', '1', '--concurrency', '1'], 2, 'cannot have both a rate and a concurrency'],
    [['set', 'smtp'], 2, 'no setting passed'],
    [['set', 'smtp', '--concurrency', '1', '--per-key'], 2, '--per-key: applies to rates'],
  ])('limits %j is refused', async (args, code, text) => {
    const refused = await call(file().path, ['limits', ...args])
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.err).toContain(text)
  })

  test('workers as JSON has the field names of the library', async () => {
    const { hold, whenStarted } = holding()
    const { path: at, mill } = file([hold])
    expect((await call(at, ['workers'])).out).toBe('no instances\n\nno duties\n')
    await mill.enqueue(hold, null)
    await mill.start()
    await whenStarted
    await mill.changeQueue('default', { workers: 3 })
    await mill.runDuty('rebalance')
    const { instances, duties } = JSON.parse((await call(at, ['workers', '--json'])).out) as Workers
    const { id } = mill.instance
    expect(instances).toMatchObject([
      { id, state: 'alive', running: 1, slots: [{ queue: 'default', workers: 3 }] },
    ])
    expect(duties.find(({ name }) => name === 'schedule')).toMatchObject({ leader: id })
    expect((await call(at, ['workers'])).out).toMatch(/ +1 +default 3 +default$/m)
  })
})
