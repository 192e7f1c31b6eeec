/** The `jobmill schedules` commands. */
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import type { ScheduleView } from '../../src/index.ts'
import { call, file, places } from './run.ts'

describe.each(places)('schedules on $name', { timeout: 60_000 }, ({ name, create }) => {
  const test = inTurns(name, places)
  test('add, list, next, trigger, pause, resume and delete', async () => {
    const place = create()
    const mill = place.mill()
    const added = await place.json<ScheduleView>([
      ...'schedules add weekly --zone Europe/Paris --kind report --queue reports --priority 3 --max-attempts 2'.split(
        ' ',
      ),
      ...'--timeout 1m --tag a --jitter 5s --start 2180-01-01T00:00:00Z --end 2190-01-01T00:00:00Z --overlap skip --missed 6h'.split(
        ' ',
      ),
      '--when',
      '0 9 * * MON',
      '--payload',
      '{"n":1}',
    ])
    expect(added).toMatchObject({
      name: 'weekly',
      kind: 'report',
      queue: 'reports',
      payload: { n: 1 },
      priority: 3,
      maxAttempts: 2,
      timeoutMs: 60_000,
      tags: ['a'],
      jitterMs: 5_000,
      startAt: Date.UTC(2180, 0, 1),
      endAt: Date.UTC(2190, 0, 1),
      overlap: 'skip',
      missed: 'all',
      missedWithinMs: 6 * 3_600_000,
      paused: false,
    })
    const [list, next, triggered] = await Promise.all([
      place.run(['schedules', 'list']),
      place.run(['schedules', 'next', 'weekly', '--count', '2']),
      place.json<{ outcome: string; job: string }>(['schedules', 'trigger', 'weekly']),
    ])
    expect(list.out).toMatch(
      /^weekly +active +0 9 \* \* MON +Europe\/Paris +report +reports +2180-01-03T08:00:00\+00:00 \(in \d+ d\) +- +at 09:00 on Monday/m,
    )
    expect(next.out.trimEnd().split('\n')).toEqual([
      'at 09:00 on Monday, Europe/Paris time',
      expect.stringMatching(/^2180-01-03T08:00:00\+00:00 \(in \d+ d\)$/),
      expect.stringMatching(/^2180-01-10T08:00:00\+00:00 \(in \d+ d\)$/),
    ])
    expect(await mill.get(triggered.job)).toMatchObject({ kind: 'report', payload: { n: 1 } })
    expect((await place.run(['schedules', 'pause', 'weekly'])).out).toBe('paused weekly\n')
    expect(await mill.schedules.get('weekly')).toMatchObject({ paused: true, nextAt: null })
    expect((await place.run(['schedules', 'resume', 'weekly'])).out).toContain(
      'resumed weekly: next 2180-01-03',
    )
    expect((await place.run(['schedules', 'delete', 'weekly', '--yes'])).out).toBe('deleted weekly\n')
    expect(await mill.schedules.list()).toEqual([])
  })

  test('N1 a deleted schedule of code is an override: listed, reset, and replaced without needless ones', async () => {
    const place = create()
    const code = { name: 'nightly', job: 'report', when: '@daily', priority: 2 }
    const mill = place.mill([], [code])
    await mill.schedules.pause('nightly')
    expect((await place.run(['schedules', 'delete', 'nightly', '--yes'])).out).toBe(
      'deleted nightly\nit is defined in code; run "jobmill overrides reset schedule nightly" to restore it\n',
    )
    expect((await place.run(['overrides'])).out).toMatch(
      /^type .*\nschedule +nightly +deleted +true +false +cli +\d{4}-\S+[+-]\d{2}:\d{2}\n$/,
    )
    const reset = await place.run(['overrides', 'reset', 'schedule', 'nightly', 'deleted'])
    expect(reset).toMatchObject({ code: 0, out: 'schedule nightly: deleted true → false\n' })
    expect(await mill.schedules.get('nightly')).toMatchObject({ priority: 2, paused: false, differs: [] })

    await place.run(['schedules', 'delete', 'nightly', '--yes'])
    const add = ['schedules', 'add', 'nightly', '--when', '@hourly', '--kind', 'report']
    expect((await place.run(add)).code).toBe(0)
    const listed = await mill.overrides()
    expect(listed.map(({ option, value, code: declared }) => [option, value, declared])).toEqual([
      // An option that was passed and equals the code, one that was omitted and differs from it, and one
      // that was passed and differs.
      ['job', 'report', 'report'],
      ['priority', 0, 2],
      ['when', '@hourly', '@daily'],
    ])
  })
})

describe('schedules on sqlite', () => {
  test('an existing, running or unconfirmed schedule is not changed', async () => {
    const { path: at, mill } = file()
    await mill.schedules.create({ name: 'daily', job: 'report', when: '@daily', overlap: 'skip' })
    const { job } = await mill.schedules.trigger('daily')
    const again = await call(at, ['schedules', 'add', 'daily', '--when', '@hourly', '--kind', 'report'])
    const skipped = await call(at, ['schedules', 'trigger', 'daily'])
    const asked = await call(at, ['schedules', 'delete', 'daily'])
    const no = await call(at, ['schedules', 'delete', 'daily'], false)
    expect([again.code, skipped.code, asked.code, no.code]).toEqual([3, 3, 2, 3])
    expect(again.err).toBe(
      'error   NAME: already exists (got "daily"). Run "jobmill schedules delete daily" first, use another name, or change the code that defines it.\n',
    )
    expect(skipped.out).toBe(`skipped: ${job} has not ended\n`)
    expect(no.out).toBe('delete daily (at 00:00 every day, UTC)? [y/N] ')
    expect(await mill.schedules.list()).toMatchObject([{ name: 'daily', when: '@daily' }])
    expect((await call(at, ['schedules', 'delete', 'daily'], true)).out).toContain('deleted daily\n')
    expect(await mill.schedules.list()).toEqual([])
  })

  test.each([
    [['delete', 'weekly', '--yes'], 3, 'no schedule has this name (got "weekly")'],
    [['pause', 'weekly'], 3, 'NAME: no schedule has this name (got "weekly"). Run jobmill schedules list'],
    [
      ['add', 'weekly', '--kind', 'report', '--when', '@daily', '--end', 'soon'],
      2,
      '--end: must be an instant',
    ],
    [['next', '0 25 * * *'], 2, 'EXPR: '],
    [['next', '@daily', '--zone', 'Mars'], 2, '--zone: '],
    [['add', 'weekly', '--kind', 'report'], 2, '--when: is missing'],
    [
      ['add', 'weekly', '--kind', 'report', '--when', '@daily', '--jitter', '5'],
      2,
      '--jitter: has no unit (got "5")',
    ],
    [
      ['add', 'weekly', '--kind', 'report', '--when', '@daily', '--missed', '6'],
      2,
      '--missed: has no unit (got "6")',
    ],
    [['add', 'weekly', '--kind', 'report', '--when', '@daily', '--overlap', 'maybe'], 2, '--overlap: '],
  ])('%j is refused', async (args, code, text) => {
    const refused = await call(file().path, ['schedules', ...args])
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.err).toContain(text)
  })

  test('a kind that the config does not define is refused, unless a flag says that another process runs it', async () => {
    const { run, mill } = places[0].create(
      `export default { store, jobs: [defineJob({ kind: 'tick', run: () => 1 })] }`,
    )
    const add = (name: string, ...args: string[]) =>
      run(['schedules', 'add', name, '--when', '@daily', ...args])
    const [typo, far, good] = await Promise.all([
      add('x', '--kind', 'tikc'),
      add('y', '--kind', 'report.build', '--unknown-kind'),
      add('z', '--kind', 'tick'),
    ])
    expect(typo).toEqual({
      code: 2,
      out: '',
      err: 'error   --kind: is not defined in this config (got "tikc"). Did you mean "tick"? Pass --unknown-kind if another process runs it.\n',
    })
    expect([far.code, good.code]).toEqual([0, 0])
    expect((await mill().schedules.list()).map(({ name }) => name)).toEqual(['y', 'z'])
  })

  test('next of an expression needs no database', async () => {
    const next = await call('/nowhere/at/all.db', [
      'schedules',
      'next',
      'every 10m',
      '--count',
      '3',
      '--json',
    ])
    expect(next.code).toBe(0)
    const { text, runs } = JSON.parse(next.out) as { text: string; runs: number[] }
    expect(text).toBe('every 10 minutes')
    expect(runs.map((at, index) => at - (runs[index - 1] ?? at))).toEqual([0, 600_000, 600_000])
  })
})
