/** The `jobmill queues` commands. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../server/src/index.ts'
import { defineJob, jobmill, type LimitOptions, type Mill } from '../../src/index.ts'
import type { QueueRecord } from '../../src/store/types/queue-record.ts'
import { sqlite } from '../../src/sqlite.ts'
import { call, file, migratedFile, places } from './run.ts'

test('N5 a queue that does not exist is not created by queues set', async () => {
  const { path: at } = file()
  const { code, err } = await call(at, ['queues', 'set', 'nope', '--workers', '1'])
  expect([code, err]).toEqual([3, expect.stringContaining('no queue has this name (got "nope")')])
  expect((await call(at, ['queues', 'list', '--json'])).out).not.toContain('nope')
})

test('N5 an id that is not a UUID is refused without the advice to omit it', async () => {
  const { err } = await call(file().path, ['jobs', 'show', '123'])
  expect(err).toMatch(/must be a UUID \(got "123"\)\. Pass the whole id: 32 hex digits as 8-4-4-4-12\.\n$/)
})

describe.each(places)('queues on $name', { timeout: 60_000 }, ({ create }) => {
  test('list, pause, resume and set', async () => {
    const place = create()
    const mill = place.mill()
    await mill.limits.create('smtp', { rate: 5 })
    await mill.enqueueMany('email.send', [
      { payload: 1, queue: 'mail' },
      { payload: 2, queue: 'mail', delay: '1h' },
    ])
    await mill.enqueue('report', 1, { queue: 'reports' })
    const paused = await place.run(['queues', 'pause', 'mail', 'reports'])
    expect(paused).toMatchObject({
      code: 0,
      out: 'mail paused; running jobs continue\nreports paused; running jobs continue\n',
    })
    expect(await mill.queues()).toMatchObject([{ paused: true }, { paused: true }])
    const resumed = await place.json<{ queues: QueueRecord[] }>(['queues', 'resume', 'mail'])
    expect(resumed.queues).toMatchObject([{ name: 'mail', paused: false }])
    const set = await place.run(
      'queues set mail --workers 4 --backoff off --backoff-base 5s --backoff-max 10m --retain-done 1d --retain-cancelled 2d --retain-dead 90d --keep-done 5 --keep-cancelled 6 --keep-dead 7 --limit smtp --target-latency 1h --cool-for 1h'.split(
        ' ',
      ),
    )
    expect(
      set.out
        .trimEnd()
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' ')),
    ).toEqual([
      'workers unset → 4',
      'backoff on → off',
      'backoff-base 10s → 5s',
      'backoff-max 30m → 10m',
      'retain-done 7d → 1d',
      'keep-done all → 5',
      'retain-cancelled 7d → 2d',
      'keep-cancelled all → 6',
      'retain-dead forever → 90d',
      'keep-dead all → 7',
      'limit none → smtp',
      'target-latency none → 1h',
      'cooling no → for 1h',
    ])
    const list = await place.run(['queues', 'list'])
    expect(list.out).toMatch(
      /^mail +no worker +1 +0 +1 +0 +0 +0 +\d\S* \w+ +[\d.]+ +[\d.]+ +(?:steady|grows \S+) +4 +off +1d,5\/2d,6\/90d,7 +smtp +1 h, met$/m,
    )
    expect(list.out).toMatch(/^reports +paused +1 /m)
    expect(list.out).toContain('mail: no worker serves this queue (1 ready job)')
  })
})

describe('queues on sqlite', () => {
  test('list as JSON has the field names of the library, and settings can be reverted', async () => {
    const { path: at, mill } = file()
    await mill.enqueueMany('email.send', [{ payload: 1 }, { payload: 2, delay: '1h' }])
    await mill.changeQueue('default', { workers: 4, retain: { dead: { for: '1d', most: 7 } } })
    const { queues } = JSON.parse((await call(at, ['queues', 'list', '--json'])).out) as { queues: object[] }
    expect(queues).toMatchObject([
      {
        name: 'default',
        workers: 4,
        counts: { ready: 1, scheduled: 1 },
        unservedKinds: [{ kind: 'email.send', minVersion: null, jobs: 1 }],
      },
    ])
    const set = await call(
      at,
      'queues set default --workers unset --keep-dead all --retain-dead forever --cool-for 0s --json'.split(
        ' ',
      ),
    )
    const { before, after } = JSON.parse(set.out) as Record<'before' | 'after', QueueRecord>
    expect(before).toMatchObject({ workers: 4, keepDead: 7 })
    expect(after).toMatchObject({ workers: null, keepDead: null, retainDeadMs: null, coolingMs: 0 })
    expect((await call(at, ['queues', 'set', 'default', '--workers', 'unset'])).out).toBe(
      'values unchanged; they are now overrides, so code no longer changes them\n',
    )
  })

  test('a queue has no worker if no process serves it, not if one kind is missing; top agrees', async () => {
    const { path: at, mill } = file([defineJob({ kind: 'a', run: () => 1 })])
    await mill.enqueueMany('odd', [
      { payload: 1 },
      { payload: 2, queue: 'far' },
      { payload: 3, queue: 'far' },
    ])
    await mill.start()
    const [list, top, json] = [
      await call(at, ['queues', 'list']),
      await call(at, ['top']),
      await call(at, ['queues', 'list', '--json']),
    ]
    expect(list.out).toMatch(/^default +ok +1 /m)
    expect(list.out).toMatch(/^far +no worker +2 /m)
    expect(list.out).toContain('default: no worker for 1 job of kind odd\n')
    expect(list.out).toContain('far: no worker serves this queue (2 ready jobs)\n')
    expect(top.out).toMatch(/^ !far .* no worker$/m)
    expect(top.out).toMatch(/^ {2}default (?!.*no worker)/m)
    expect(JSON.parse(json.out)).toMatchObject({ queues: [{ isServed: true }, { isServed: false }] })
  })

  test('an unknown queue or an invalid setting changes nothing', async () => {
    const { path: at, mill } = file()
    await mill.enqueue('a', 1)
    const some = await call(at, ['queues', 'pause', 'default', 'maill'])
    const none = await call(at, ['queues', 'set', 'maill', '--workers', '1'])
    const bad = await call(at, ['queues', 'set', 'default', '--backoff', 'maybe'])
    const empty = await call(at, ['queues', 'set', 'default'])
    expect([some.code, none.code, bad.code, empty.code]).toEqual([3, 3, 2, 2])
    expect(some.err).toContain(
      'NAME: no queue has this name (got "maill"). Run jobmill queues list to see all queues.',
    )
    const near = await call(at, ['queues', 'pause', 'defualt'])
    expect(near.err).toBe('error   NAME: no queue has this name (got "defualt"). Did you mean "default"?\n')
    expect((await call(at, ['queues', 'set', 'defautl', '--workers', '1'])).err).toContain(
      'Did you mean "default"?',
    )
    expect((await call(at, ['jobs', 'list', '--queue', 'defualt'])).err).toContain('Did you mean "default"?')
    expect(bad.err).toContain('--backoff: is not an allowed value (got "maybe"). Use one of: on, off')
    const odd = await call(at, 'queues set default --backoff-base 2h --backoff-max 1s'.split(' '))
    const far = await call(at, 'queues set default --keep-dead 3 --retain-dead never'.split(' '))
    expect(odd.err).toContain(
      '--backoff-base: must not be longer than --backoff-max (got "2h"). Raise --backoff-max or lower --backoff-base',
    )
    expect(far.err).toContain('--retain-dead: must be a duration')
    expect(empty.err).toContain('no setting passed')
    expect((await call(at, ['queues', 'set', 'default', '--limit', 'smpt'])).err).toContain(
      'no limit has this name (got "smpt"). Create it with jobmill limits set.',
    )
    expect(await mill.queues()).toMatchObject([{ name: 'default', paused: false, workers: null }])
  })

  test.each(['retain-done', 'retain-cancelled', 'retain-dead', 'backoff-base', 'backoff-max', 'cool-for'])(
    '--%s without a unit is refused, and changes nothing',
    async (option) => {
      const { path: at, mill } = file()
      await mill.enqueue('a', 1)
      const before = await mill.queues()
      const bare = await call(at, ['queues', 'set', 'default', `--${option}`, '7'])
      expect(bare).toEqual({
        code: 2,
        out: '',
        err: `error   --${option}: has no unit (got "7"). Use 7ms, 7s, 7m, 7h or 7d.\n`,
      })
      expect(await mill.queues()).toEqual(before)
    },
  )

  test('the help says that a duration needs a unit', async () => {
    const { out } = await call('', ['queues', 'set', '--help'])
    expect(out).toContain('DURATION is a number with a unit: 500ms, 90s, 10m, 1h30m or 7d')
    expect((await call('', ['queues', 'list', '--help'])).out).not.toContain('DURATION')
  })

  test('a backoff base above the effective max is refused, and so is a max below the base', async () => {
    const { path: at, mill } = file()
    await mill.enqueue('a', 1)
    await mill.changeQueue('default', { backoff: { max: '10m' } })
    const set = (...args: string[]) => call(at, ['queues', 'set', 'default', ...args])
    expect(await set('--backoff-base', '20m', '--workers', '3')).toEqual({
      code: 2,
      out: '',
      err: 'error   --backoff-base: must not be longer than --backoff-max, which is 10m (got 20m). Raise --backoff-max or lower --backoff-base.\n',
    })
    expect((await set('--backoff-max', '1s')).err).toBe(
      'error   --backoff-max: must not be shorter than --backoff-base, which is 10s (got 1s). Raise --backoff-max or lower --backoff-base.\n',
    )
    expect(await mill.queues()).toMatchObject([{ workers: null, backoffMaxMs: 600_000 }])
    expect((await set('--backoff-base', '20m', '--backoff-max', '20m')).code).toBe(0)
  })
})

describe.each(places)('overrides on $name', { timeout: 60_000 }, ({ create }) => {
  test('N1 are listed with author, time and the value in code, and reset one by one, by name, and all', async () => {
    const place = create()
    const mill = place.mill()
    await mill.limits.create('smtp', { rate: 5 })
    await mill.enqueue('email.send', 1, { queue: 'mail' })
    expect((await place.run(['overrides'])).out).toBe('no overrides\n')
    await place.run(['queues', 'pause', 'mail'])
    await place.run(['queues', 'set', 'mail', '--workers', '8', '--retain-done', '1d'])
    const { out } = await place.run(['overrides'])
    expect(out).toMatch(/^queue +mail +paused +true +false \(default\) +cli +\d{4}-\S+[+-]\d{2}:\d{2}$/m)
    expect(out).toMatch(/^queue +mail +retain.done +1d +7d \(default\) +cli /m)
    const one = await place.run(['overrides', 'reset', 'queue', 'mail', 'workers'])
    expect(one).toMatchObject({ code: 0, out: 'queue mail: workers 8 → null (default)\n' })
    const wrong = await place.run(['overrides', 'reset', 'queue', 'mail', 'worker'])
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean "workers"?') as string,
    })
    const { reset } = await place.json<{ reset: { option: string }[] }>([
      'overrides',
      'reset',
      'queue',
      'mail',
    ])
    expect(reset.map(({ option }) => option)).toEqual(['paused', 'retain.done'])
    expect((await place.run(['overrides', 'reset'])).code).toBe(2)
    expect((await place.run(['overrides', 'reset', '--yes'])).out).toBe('no overrides to reset\n')
    expect((await mill.queues())[0]).toMatchObject({ paused: false, workers: null })
  })
})

test('N1 an override of a limit whose type changed in code is listed as not applied, and reset', async () => {
  const at = migratedFile()
  const deployed = async (smtp: LimitOptions): Promise<Mill<never>> => {
    const mill = jobmill({ store: sqlite(at), serve: ['default'], limits: { smtp }, log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    await mill.start()
    return mill
  }
  await deployed({ concurrency: 3 })
  await call(at, ['limits', 'set', 'smtp', '--concurrency', '5'])
  expect((await call(at, ['overrides'])).out).toMatch(/^limit +smtp +concurrency +5 +3 +cli /m)
  const mill = await deployed({ rate: 10 })
  const [limit] = await mill.limits.list()
  expect(limit?.settings).toMatchObject({ type: 'rate', amount: 10 })
  expect((await call(at, ['overrides'])).out).toMatch(/^limit +smtp +concurrency +5 \(not applied\) /m)
  const { url, close } = await serve(mill, { port: 0 })
  onTestFinished(close)
  expect(await (await fetch(`${url}/api/overrides`)).json()).toMatchObject({
    overrides: [{ name: 'smtp', option: 'concurrency', value: 5, isApplied: false }],
  })
  expect((await call(at, ['overrides', 'reset', 'limit', 'smtp'])).out).toBe(
    'limit smtp: concurrency 5 (not applied) removed\n',
  )
  expect(await mill.overrides()).toEqual([])
})
