/** `jobmill alerts …`. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { SECRET } from '../alerts/receiver.ts'
import { call, file } from './run.ts'

function withSecret() {
  const place = file()
  const secret = path.join(path.dirname(place.path), 'alert.key')
  writeFileSync(secret, `${SECRET}\n`)
  return { at: place.path, secret }
}

describe('jobmill alerts', () => {
  test('set creates a rule and changes it, list shows it without its secret, delete asks first', async () => {
    const { at, secret } = withSecret()
    const url = 'https://user:pass@example.com/hook?token=abc'
    const made = await call(
      at,
      `alerts set ops --check dead --check waiting --queue mail --url ${url} --secret-file ${secret}`.split(
        ' ',
      ),
    )
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringContaining('ops: dead, waiting → https://example.com/hook?…') as string,
    })
    await call(at, 'alerts set ops --for 5m --cool-down 4h --queue any --pause'.split(' '))
    const { out } = await call(at, ['alerts', 'list'])
    expect(out).toMatch(/^ops +dead, waiting +- +https:\/\/example\.com\/hook\?… +4h +0 +- +paused$/m)
    const json = await call(at, ['alerts', 'list', '--json'])
    for (const hidden of [SECRET.slice(6, 40), 'pass', 'abc']) expect(json.out).not.toContain(hidden)
    expect(await call(at, ['alerts', 'delete', 'ops'], false)).toMatchObject({ code: 3 })
    expect(await call(at, ['alerts', 'delete', 'ops', '--yes'])).toMatchObject({ code: 0 })
    expect((await call(at, ['alerts', 'list'])).out).toContain('no alert rules')
  })

  test('a test message is enqueued', async () => {
    const { at, secret } = withSecret()
    await call(at, `alerts set ops --url https://example.com --secret-file ${secret}`.split(' '))
    const { out } = await call(at, ['alerts', 'test', 'ops', '--json'])
    const { job } = JSON.parse(out) as { job: string }
    const mill = jobmill({ store: sqlite(at), log: 'silent' })
    expect(await mill.get(job)).toMatchObject({ kind: 'jobmill.alert', payload: { rule: 'ops' } })
    await mill.stop()
  })

  test.each([
    [['set', 'ops'], 2, 'alerts set: no option passed. Pass --check, --url and --secret-file, or --pause'],
    [['set', 'ops', '--pause'], 2, '--url: is missing. Pass --url and --secret-file'],
    [['set', 'ops', '--recovery', 'maybe'], 2, '--recovery: must be yes or no (got "maybe"). Use yes or no'],
    [['set', 'ops', '--pause', '--resume'], 2, '--resume: cannot be combined with --pause'],
    [['set', 'ops', '--secret-file', '/nowhere'], 2, '--secret-file: cannot be read (got "/nowhere")'],
    [
      ['set', 'ops', '--check', 'deda'],
      2,
      '--check: no check has this name (got "deda"). Did you mean "dead"?',
    ],
    [['test', 'ops'], 3, 'NAME: no alert rule has this name (got "ops"). Run jobmill alerts list'],
    [['delete', 'ops', '--yes'], 3, 'NAME: no alert rule has this name (got "ops")'],
  ])('alerts %j is refused', async (args, code, text) => {
    const refused = await call(file().path, ['alerts', ...args])
    expect(refused).toMatchObject({ code, err: expect.stringContaining(text) as string })
  })
})
