/** The command line: output and exit codes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../test/support/databases.ts'
import { deregister } from '../../../test/support/programs/deregister.ts'
import { bundled } from '../../../test/support/programs/programs.ts'
import { silentProxy } from '../../../test/support/silent-proxy.ts'
import { postgres } from '../../jobmill/src/postgres.ts'
import { COMMANDS, run as runHere } from '../src/cli/run.ts'
import type { FakeTelegram } from '../src/fake/types.ts'
import { VERSION } from '../src/version.ts'
import { patientTelegram } from './support/patient-telegram.ts'
import { anUpdate, AUTH_SECRET, envOf, saidBy } from './support/scene.ts'

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

let fake: FakeTelegram
let folder: string
const SLUGS = ['door', 'echo']
beforeAll(async () => {
  fake = await patientTelegram({ retryScale: 0.05 })
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

const envFor = (env: Record<string, string>): Record<string, string> => ({
  ...envOf(SLUGS),
  AUTH_SECRET,
  DATABASE_URL: '',
  TELEGRAM_API_ROOT: fake.url,
  ...env,
})

function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bundled(MAIN), ...args], {
    cwd: folder,
    env: { ...process.env, ...envFor(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.out += String(chunk)))
  child.stderr.on('data', (chunk: Buffer) => (output.err += String(chunk)))
  return {
    child,
    output,
    ended: once(child, 'close').then(([code]) => ({ code: code as number, ...output })),
  }
}

/** The same in this process, with a database that does not exist yet. */
async function type(args: readonly string[], env: Record<string, string> = {}) {
  const output = { out: '', err: '' }
  const code = await runHere(args, {
    out: (line) => void (output.out += `${line}\n`),
    err: (line) => void (output.err += `${line}\n`),
    env: envFor({
      TELEGRAM_CONFIG: join(folder, 'telegram.yaml'),
      DATABASE_URL: join(folder, 'other.db'),
      ...env,
    }),
  })
  return { code, ...output }
}

test('check reports the bots or all problems, and creates nothing', async () => {
  expect(await run(['check']).ended).toEqual({
    code: 0,
    out: 'ok: 2 bots: door (auth), echo (echo, async)\ndatabase telegram.db, created at the first start\n',
    err: '',
  })
  const wrong = await type(['check'], {
    BOT_ECHO_TOKEN: '',
    BOT_ECHO_TOKN: '7:x',
    AUTH_SECRET: '',
    DATABASE_URL: 'mysql://me:hidden@here/x',
    JOBMILL_TOKENS_FILE: '/nowhere',
  })
  expect([wrong.code, wrong.out]).toEqual([2, ''])
  expect(wrong.err).toContain(
    'error   BOT_ECHO_TOKEN: is not set\n        Set it to the token from @BotFather, or BOT_ECHO_TOKEN_FILE',
  )
  expect(wrong.err).toContain('error   AUTH_SECRET: is not set')
  expect(wrong.err).toContain(
    'warning BOT_ECHO_TOKN: is set, but no bot uses it\n        Did you mean BOT_ECHO_TOKEN?',
  )
  expect(wrong.err).toContain('error   DATABASE_URL: must be a PostgreSQL URL or a SQLite file')
  expect(wrong.err).toContain('error   JOBMILL_TOKENS_FILE: names /nowhere, which cannot be read (ENOENT)')
  expect(wrong.err).not.toContain('hidden')
  expect((await type(['check'], { ADMIN_LISTEN: '', TELEGRAM_CONFIG: '/nowhere.yaml' })).err).toContain(
    '/nowhere.yaml',
  )
  const yaml = readFileSync(join(folder, 'telegram.yaml'), 'utf8').replace(
    'admin: 127.0.0.1:0',
    'admin: 0.0.0.0:0',
  )
  expect(await type(['check'], { TELEGRAM_CONFIG: '', TELEGRAM_CONFIG_YAML: yaml })).toMatchObject({
    code: 2,
    err: expect.stringContaining('JOBMILL_TOKENS: is not set, but Mission Control would be') as string,
  })
  expect(await type(['check'], { JOBMILL_TOKENS: '# nobody\nada boss 0123456789abcdef' })).toMatchObject({
    code: 2,
    err: expect.stringContaining('error   JOBMILL_TOKENS, line 2: contains an invalid token') as string,
  })
  expect(readdirSync(folder)).toEqual(['telegram.yaml'])
})

/** The exit code and the error lines in order. */
const checked = async (yaml: string, env: Record<string, string>) => {
  const { code, err } = await type(['check'], { TELEGRAM_CONFIG: '', TELEGRAM_CONFIG_YAML: yaml, ...env })
  return [code, ...err.split('\n').filter((line) => /^(?:error|warning)/.test(line))]
}

test('check reports the problems of config, tokens and database together', async () => {
  const bots = 'bots:\n  door: { handler: auth }\n  echo: { handler: ecko }\n'
  expect(
    await checked(`admin: 0.0.0.0:1\n${bots}`, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' }),
  ).toEqual([
    2,
    'error   bots.echo.handler (line 4): must be a known handler (got "ecko")',
    'error   JOBMILL_TOKENS: is not set, but Mission Control would be reachable from other machines',
    expect.stringMatching(/^error {3}the database cannot be reached: /),
  ])
  for (const host of ['LOCALHOST', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'])
    expect(
      await checked(`admin: "${host}:1"\nbots:\n  door: { handler: auth }\n  echo: { handler: echo }\n`, {
        DATABASE_URL: join(folder, 'loopback.db'),
      }),
    ).toEqual([0])
  // A YAML mistake is one error with its position; everything else is checked nevertheless.
  expect(
    await checked('bots:\n  door: { handler: auth\n  echo: ]\n  x: {\n', {
      DATABASE_URL: join(folder, 'nowhere', 'x.db'),
      JOBMILL_TOKENS: 'nonsense',
    }),
  ).toEqual([
    2,
    expect.stringMatching(/^error {3}TELEGRAM_CONFIG_YAML \(line 3, column 3\): is not valid YAML: /),
    'error   JOBMILL_TOKENS, line 1: contains an invalid token',
    expect.stringMatching(/^error {3}.*nowhere/),
  ])
})

test('a typo gets a suggestion and exit code 2', async () => {
  const cases: [readonly string[], RegExp][] = [
    [['strat'], /^error {3}unknown command "strat"\. Did you mean "start"\? Run jobmill-telegram --help\n$/],
    [['codes'], /jobmill-telegram codes new .*\n.*codes list/],
    [['codes', 'nwe'], /Did you mean "codes new"\?/],
    [
      ['check', '--loud'],
      /^error {3}--loud: is not an option of jobmill-telegram check\. Use one of --config, --help\.\n$/,
    ],
    [['check', '--confg', 'x'], /Did you mean "--config"\?/],
    [['check', '--config'], /--config: needs a value\. Pass --config FILE/],
    [['check', 'this'], /unexpected argument "this"/],
    [['start', '--poll=yes'], /--poll: takes no value/],
    [['codes', 'new', '--ttl', 'banana'], /^error {3}--ttl: .*banana/],
    [
      ['codes', 'new', '--ttl', '5'],
      /^error {3}--ttl: must be a number with a unit \(got "5"\)\. Pass a duration such as 30m, 1h or 7d\.\n$/,
    ],
    [['codes', 'new', '--ttl', '0s'], /--ttl: must be greater than 0/],
    [
      ['codes', 'new', '--bot', 'ecko'],
      /^error {3}--bot: is not defined in the config \(got "ecko"\)\. Did you mean "echo"\?/,
    ],
    [['codes', 'new', '--user', 'ada'], /^error {3}--user: must be a Telegram user id \(got "ada"\)/],
    [[], /jobmill-telegram: run many Telegram bots/],
  ]
  for (const [args, text] of cases) {
    const { code, out, err } = await type(args)
    expect([args.join(' '), code, out, err]).toEqual([args.join(' '), 2, '', expect.stringMatching(text)])
  }
  expect(existsSync(join(folder, 'other.db'))).toBe(false)
})

test('--version and --help', async () => {
  expect(await type(['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' })
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(VERSION).toBe(version)
  expect(await type(['--help'])).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('codes new') as string,
  })
  expect((await type(['codes', 'new', '--help'])).out).toContain('--ttl TIME')
  // The README lists the same exit codes.
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
  const [, codes = ''] = /Exit codes: (.*)$/s.exec((await type(['--help'])).out) ?? []
  for (const one of codes.trim().replaceAll(/\s+/g, ' ').split(', ')) expect(page).toContain(one)
})

test('an address in use, an unreachable database and a rejected token are reported with the fix', async () => {
  const busyServer = createServer().listen(0, '127.0.0.1')
  await once(busyServer, 'listening')
  onTestFinished(() => void busyServer.close())
  const at = `127.0.0.1:${(busyServer.address() as AddressInfo).port}`
  const yaml = 'bots:\n  door: { handler: auth }\n  echo: { handler: echo, async: true }\n'
  const env = { TELEGRAM_CONFIG: '', TELEGRAM_CONFIG_YAML: yaml, ADMIN_LISTEN: '127.0.0.1:0' }
  expect(await type(['start'], { ...env, LISTEN: at })).toMatchObject({
    code: 2,
    err: `error   listen: address is already in use (got ${at}). Set another address: listen in the config, or LISTEN.\n`,
  })
  expect(await type(['start'], { ...env, LISTEN: '127.0.0.1:0', ADMIN_LISTEN: at })).toMatchObject({
    code: 2,
    err: `error   admin: address is already in use (got ${at}). Set another address: admin in the config, or ADMIN_LISTEN.\n`,
  })
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' }
  for (const args of [['check'], ['start'], ['codes', 'list'], ['codes', 'new']])
    expect(await type(args, away)).toMatchObject({
      code: 4,
      err: expect.stringMatching(
        /^error {3}the database cannot be reached: .*Check the database URL.*\n$/,
      ) as string,
    })
  const refused = await type(['bots'], { BOT_ECHO_TOKEN: '4711:nobody-knows-this-one' })
  expect([refused.code, refused.err]).toEqual([3, ''])
  expect(refused.out).toContain('Telegram rejected the token: check BOT_ECHO_TOKEN')
  expect(refused.out).toContain('@door_bot')
  const { child, output, ended } = run(['start', '--poll'], {
    BOT_ECHO_TOKEN: '4711:nobody-knows-this-one',
    DATABASE_URL: join(folder, 'refused.db'),
  })
  await expect.poll(() => output.out + output.err).toContain('rejected the token: check BOT_ECHO_TOKEN')
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  const unreached = await type(['bots'], { TELEGRAM_API_ROOT: 'http://127.0.0.1:1' })
  expect([unreached.code, unreached.out]).toEqual([4, expect.stringContaining('Telegram is unreachable')])
})

test('A start, a code, a conversation, the bots, and a clean stop; starts are logged at info', async () => {
  const { child, output, ended } = run(['start', '--poll'])
  for await (const line of createInterface(child.stdout)) if (line.includes('polling Telegram')) break
  expect(output.out).toMatch(
    /jobmill-telegram listens at http:[^]*Mission Control {3}http:[^]*bot echo {10}echo, async, login required/,
  )
  const same = { DATABASE_URL: join(folder, 'telegram.db') }
  const code = await type(['codes', 'new', '--bot', 'echo', '--ttl', '5m'], same)
  expect(code).toMatchObject({
    code: 0,
    err: expect.stringContaining('The code works once, within 5 minutes, for echo') as string,
  })
  const tokens = envOf(SLUGS)
  const door = fake.chat({ bot: tokens['BOT_DOOR_TOKEN'] ?? '', id: 5 })
  const echo = fake.chat({ bot: tokens['BOT_ECHO_TOKEN'] ?? '', id: 5 })
  door.says(`/auth ${code.out.trim()}`)
  await door.until((all) => all.some(({ by }) => by === 'bot'))
  echo.says('hello')
  await echo.until((all) => all.some(({ by }) => by === 'bot'))
  expect(saidBy(echo)).toEqual(['hello'])
  expect((await type(['codes', 'list'], same)).out).toMatch(/^used by 5 +echo {2}until /)
  expect((await type(['bots'])).out).toContain('@echo_bot, no webhook, 0 pending')
  child.kill('SIGTERM')
  const { code: exit, out, err } = await ended
  expect(err).toMatch(/^jobmill info {2}.*gateway started/m)
  expect([exit, out.endsWith('stopped\n')]).toEqual([0, true])
})

test('S P6 the gateway keeps working after the readers of its output have ended, and stops with 0', async () => {
  const { child, ended } = run(['start', '--poll'], { DATABASE_URL: join(folder, 'unread.db') })
  for await (const line of createInterface(child.stdout)) if (line.includes('polling Telegram')) break
  child.stdout.destroy()
  child.stderr.destroy()
  const door = fake.chat({ bot: envOf(SLUGS)['BOT_DOOR_TOKEN'] ?? '', id: 77 })
  door.says('/auth none')
  await door.until((all) => all.some(({ by }) => by === 'bot'))
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})

test('D9 a second signal ends the gateway while webhooks wait for a silent database', async () => {
  const url = new URL(inject('postgresUrl'))
  const schema = freshSchema(String(url), 'telegram')
  onTestFinished(() => deregister(postgres(inject('postgresUrl'), { schema })))
  const { port, goSilent, dropped } = await silentProxy(Number(url.port))
  url.port = String(port)
  url.searchParams.set('schema', schema)
  const { child, output, ended } = run(['start'], { DATABASE_URL: String(url) })
  await expect.poll(() => output.out + output.err, { timeout: 20_000 }).toContain('gateway started')
  const address = /listens at (\S+)/.exec(output.out)?.[1] ?? ''
  goSilent()
  const answers = [1, 2, 3].map((n) =>
    fetch(`${address}/telegram/echo`, {
      method: 'POST',
      headers: {
        'x-telegram-bot-api-secret-token': envOf(SLUGS)['BOT_ECHO_SECRET'] ?? '',
        'content-type': 'application/json',
      },
      body: JSON.stringify(anUpdate('echo', { userId: n })),
    }).then(
      ({ status }) => status,
      () => 'cut off',
    ),
  )
  await dropped(answers.length)
  child.kill('SIGTERM')
  child.kill('SIGINT')
  const { code, out, err } = await ended
  expect([code, out]).toEqual([0, expect.stringMatching(/stopping immediately: [^]*\nstopped\n$/)])
  // It did not wait for the deadline of their statements, which would be reported.
  expect(await Promise.all(answers)).toEqual(['cut off', 'cut off', 'cut off'])
  expect(err).not.toContain('did not respond within')
})

test('the README has every command, with its own options', () => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  for (const { words, options = {} } of COMMANDS) {
    const row = new RegExp(`^\\| \`${words}\` \\|.*$`, 'm').exec(page)?.[0] ?? ''
    expect([words, row]).toEqual([words, expect.stringContaining(words)])
    for (const option of Object.keys(options)) expect(row).toContain(`\`--${option}\``)
  }
})
