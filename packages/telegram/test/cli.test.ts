/** The command: what it says, and how it ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundled } from '../../../test/support/programs.ts'
import { fakeTelegram } from '../src/fake/fake-telegram.ts'
import type { FakeTelegram } from '../src/fake/types.ts'
import { AUTH_SECRET, envOf, saidBy } from './support/scene.ts'

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

let fake: FakeTelegram
let folder: string
const SLUGS = ['door', 'echo']
beforeAll(async () => {
  fake = await fakeTelegram({ retryScale: 0.05 })
  folder = mkdtempSync(join(tmpdir(), 'telegram-cli-'))
  for (const slug of SLUGS)
    fake.addBot({ token: envOf(SLUGS)[`BOT_${slug.toUpperCase()}_TOKEN`] ?? '', username: `${slug}_bot` })
  writeFileSync(
    join(folder, 'telegram.yaml'),
    'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nbots:\n  door: { handler: auth }\n  echo: { handler: echo, async: true }\n',
  )
})
afterAll(async () => {
  await fake.close()
  rmSync(folder, { recursive: true })
})

function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bundled(MAIN), ...args], {
    cwd: folder,
    env: {
      ...process.env,
      ...envOf(SLUGS),
      AUTH_SECRET,
      DATABASE_URL: '',
      TELEGRAM_API_ROOT: fake.url,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const told = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (told.out += String(chunk)))
  child.stderr.on('data', (chunk: Buffer) => (told.err += String(chunk)))
  return { child, told, ended: once(child, 'close').then(([code]) => ({ code: code as number, ...told })) }
}

test('check says what there is, or everything that is wrong', async () => {
  expect(await run(['check']).ended).toEqual({
    code: 0,
    out: 'ok: 2 bots: door (auth), echo (echo, async)\n',
    err: '',
  })
  const wrong = await run(['check'], { BOT_ECHO_TOKEN: '', AUTH_SECRET: '' }).ended
  expect(wrong.code).toBe(2)
  expect(wrong.err).toContain('error   BOT_ECHO_TOKEN: is not set\n        Set it, or BOT_ECHO_TOKEN_FILE')
  expect(wrong.err).toContain('error   AUTH_SECRET: is not set')
  const missing = await run(['check', '--config', 'nowhere.yaml']).ended
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('nowhere.yaml')])
})

test('words that nobody knows are refused with those that there are', async () => {
  expect(await run(['strat']).ended).toMatchObject({
    code: 2,
    err: expect.stringContaining('check, start, codes, bots') as string,
  })
  expect(await run(['check', '--loud']).ended).toMatchObject({
    code: 2,
    err: expect.stringContaining('--loud') as string,
  })
  expect((await run(['--help']).ended).out).toContain('codes new')
})

test('start, a code, a conversation, the bots, and a clean stop', async () => {
  const { child, told, ended } = run(['start', '--poll'])
  for await (const line of createInterface(child.stdout)) if (line.includes('asks Telegram')) break
  expect(told.out).toMatch(
    /jobmill-telegram listens at http:[^]*Mission Control {3}http:[^]*bot echo {10}echo, durable, for who logged in/,
  )
  const code = await run(['codes', 'new', '--bot', 'echo', '--ttl', '5m']).ended
  expect(code).toMatchObject({
    code: 0,
    err: expect.stringContaining('It opens echo, once, within 5 minutes') as string,
  })
  const tokens = envOf(SLUGS)
  const door = fake.chat({ bot: tokens['BOT_DOOR_TOKEN'] ?? '', id: 5 })
  const echo = fake.chat({ bot: tokens['BOT_ECHO_TOKEN'] ?? '', id: 5 })
  door.says(`/auth ${code.out.trim()}`)
  await door.until((all) => all.some(({ by }) => by === 'bot'), 20_000)
  echo.says('hello')
  await echo.until((all) => all.some(({ by }) => by === 'bot'), 20_000)
  expect(saidBy(echo)).toEqual(['hello'])
  expect((await run(['codes', 'list']).ended).out).toMatch(/^used by 5 +echo {2}until /)
  expect((await run(['bots']).ended).out).toContain('@echo_bot, no webhook, 0 pending')
  child.kill('SIGTERM')
  const { code: exit, out } = await ended
  expect([exit, out.endsWith('stopped\n')]).toEqual([0, true])
}, 60_000)

test('codes for bots and users that are none are refused', async () => {
  for (const [flag, value] of [
    ['--bot', 'nobody'],
    ['--user', 'ada'],
    ['--ttl', 'soon'],
  ] as const) {
    const refused = await run(['codes', 'new', flag, value]).ended
    expect([refused.code, refused.err]).toEqual([expect.any(Number), expect.stringContaining(flag)])
    expect(refused.code).not.toBe(0)
  }
})
