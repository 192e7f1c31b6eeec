/** `jobmill top`: in a real terminal with key presses, and printed once elsewhere. */
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { Dead, defineJob, type Mill } from '../../src/index.ts'
import { hasScript, inTerminal } from './in-terminal.ts'
import { call, config, file, places } from './run.ts'

/** Longer than its column. */
const LONG = 'fails.with-a-name-that-is-longer-than-the-row'

const fails = defineJob({
  kind: LONG,
  run() {
    throw new Dead('no')
  },
})

/** Two queues: one with a dead job, and one with a ready job. */
async function scene(mill: Mill): Promise<{ dead: string; waiting: string }> {
  const dead = await mill.enqueue(fails, null)
  await mill.start()
  await dead.result().catch(() => {})
  const waiting = await mill.enqueue('email.send', { to: 'ada' }, { queue: 'mail-of-a-rather-long-name' })
  return { dead: dead.id, waiting: waiting.id }
}

describe.each(places)('top on $name', { timeout: 60_000 }, ({ create }) => {
  test('prints one frame without a terminal', async () => {
    const place = create()
    const mill = place.mill([fails])
    const { dead } = await scene(mill)
    const { code, out } = await place.run(['top'])
    expect(code).toBe(0)
    expect(out).toMatch(
      /^jobmill top {2}\S+ .* \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\n1 instance: 1 ready, 0 running, 0 scheduled, 1 dead\n/,
    )
    expect(out).toMatch(/^ !mail-of-a-rather-long-name +1 +0 +0 +0 /m)
    expect(out).toMatch(new RegExp(`^ {2}${dead} +\\S.* default +${LONG}$`, 'm'))
    expect(out).toContain(`  ${mill.instance.label ?? mill.instance.id}`.slice(0, 37))
    expect(stripVTControlCharacters(out)).toBe(out)
  })
})

describe('top on sqlite', () => {
  test('as JSON has the field names of the library', async () => {
    const { path: at, mill } = file([fails])
    const { dead } = await scene(mill)
    const view = JSON.parse((await call(at, ['top', '--json'])).out) as object
    expect(view).toMatchObject({
      store: `sqlite ${at}`,
      queues: [
        { name: 'default', counts: { dead: 1 } },
        { name: 'mail-of-a-rather-long-name', counts: { ready: 1 } },
      ],
      instances: [{ id: mill.instance.id, state: 'alive' }],
      dead: [{ id: dead, kind: LONG }],
    })
    expect((await call(at, ['top', '--every', '0s'])).err).toContain('--every: must be longer than 0')
  })
})

describe.skipIf(!hasScript)('top in a terminal', () => {
  const DOWN = '\u001B[B'
  const ESCAPE = '\u001B'

  test('keys select, pause, open a queue and a job, and go back; it fits into 80x24 and restores the terminal', async () => {
    const { path: at, mill } = file([fails])
    const { waiting, dead } = await scene(mill)
    // An interval so long that only keys trigger reads.
    const top = await inTerminal('.', ['top', '--every', '1h', '--db', at])
    await top.shows(/^>.default .* 1 .*[\s\S]*^ {2}default: open$/m)
    expect(top.rows()).toHaveLength(24)
    await top.shows(new RegExp(`^ {2}${dead} .* default +fails\\.with-a-\\S*…$`, 'm'))
    top.press(DOWN)
    await top.shows(/^>.mail-of-a-… +1 /m)
    await top.shows(/^ {2}mail-of-a-rather-long-name: no worker, oldest ready for/m)
    top.press('p')
    await top.shows(/^>=mail-of-a-/m)
    expect((await mill.queues()).map(({ paused }) => paused)).toEqual([false, true])
    expect(await mill.overrides()).toMatchObject([{ option: 'paused', by: 'cli' }])
    top.press('p')
    await top.shows(/^>!mail-of-a-/m)
    expect((await mill.queues()).map(({ paused }) => paused)).toEqual([false, false])
    top.press('\r')
    await top.shows(new RegExp(`^queue mail-of-a-rather-long-name$[^]*^> ${waiting} `, 'm'))
    top.press('\r')
    await top.shows(new RegExp(`^job ${waiting}$[^]*^kind +email.send$`, 'm'))
    top.press('?')
    await top.shows(/^ {2}q, Ctrl\+C +quit$/m)
    top.press('?')
    await top.shows(/^kind +email.send$/m)
    top.press(ESCAPE)
    await top.shows(/^queue mail/m)
    top.press(ESCAPE)
    await top.shows(/^>.mail-of-a-… +1 /m)
    top.press('k')
    await top.shows(/^>.default/m)
    expect(top.overrun()).toBe(0)
    top.press('q')
    expect(await top.left()).toEqual({ code: 0, second: false, cursor: true, wraps: true, isRaw: false })
  })

  test('it refreshes, follows the size of the terminal, and quits with Ctrl+C', async () => {
    const { path: at, mill } = file([fails])
    await scene(mill)
    const top = await inTerminal('.', ['top', '--every', '100ms', '--db', at])
    await top.shows(/^>.default/m)
    await mill.enqueueMany(
      'x',
      Array.from({ length: 12 }, (_, n) => ({ payload: n, queue: `queue-${String(n).padStart(2, '0')}` })),
    )
    await top.shows(/^ {2}1-\d+ of 14 /m)
    top.press('G')
    await top.shows(/^>.queue-11 +1 /m)
    top.resize(120, 40)
    await top.shows(/^ {2}queue +ready .* state$[^]*^ !mail-of-a-rather-long-name +1 [^]*^>.queue-11 +1 /m)
    // A frame may arrive in pieces.
    await top.shows(/q quit[^\n]*$/)
    expect(top.rows()).toHaveLength(40)
    expect(top.overrun()).toBe(0)
    top.press('\u0003')
    expect(await top.left()).toMatchObject({ code: 0, second: false, isRaw: false })
  })

  test('a signal and an uncaught error restore the terminal too', async () => {
    const { folder } = config(
      `process.on('SIGUSR2', () => { throw new Error('nobody catches this') })\nexport default { store }`,
    )
    const [ended, broken] = await Promise.all([inTerminal(folder, ['top']), inTerminal(folder, ['top'])])
    await Promise.all([ended, broken].map((top) => top.shows(/no queues/)))
    ended.kill('SIGTERM')
    expect(await ended.left()).toEqual({ code: 0, second: false, cursor: true, wraps: true, isRaw: false })
    broken.kill('SIGUSR2')
    expect(await broken.left()).toEqual({ code: 1, second: false, cursor: true, wraps: true, isRaw: false })
    // On the main screen, which stays.
    expect(broken.rows().join('\n')).toContain('nobody catches this')
  })

  test('a bulk action asks for confirmation', async () => {
    const { path: at, mill } = file()
    await mill.enqueue('b', 1, { delay: '1h' })
    const cancel = ['jobs', 'cancel', '--kind', 'b', '--db', at]
    const [no, yes] = [await inTerminal('.', cancel), await inTerminal('.', cancel)]
    await Promise.all([no, yes].map((one) => one.shows(/continue\? \[y\/N\]/)))
    no.press('\r')
    expect(await no.left()).toMatchObject({ code: 3 })
    expect(await mill.counts()).toMatchObject([{ scheduled: 1 }])
    yes.press('y\r')
    expect(await yes.left()).toMatchObject({ code: 0, isRaw: false })
    expect(await mill.counts()).toMatchObject([{ cancelled: 1 }])
  })
})
