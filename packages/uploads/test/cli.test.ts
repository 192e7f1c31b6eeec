/** The command line: output and exit codes. Runs in this process, except for `start`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { inject, expect, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../test/support/databases.ts'
import { deregister } from '../../../test/support/programs/deregister.ts'
import { bundled } from '../../../test/support/programs/programs.ts'
import { silentProxy } from '../../../test/support/silent-proxy.ts'
import { bytesOf, sizeText } from '../src/config/sizes.ts'
import { postgres } from '../../jobmill/src/postgres.ts'
import { VERSION } from '../src/version.ts'
import { addressOf, formOf } from './support/inboxes.ts'
import { type } from './support/type.ts'

/** An empty folder, and the variables that keep everything inside it. */
function place() {
  const database = freshFile()
  const folder = path.dirname(database)
  return { folder, env: { DATABASE_URL: database, UPLOADS_BLOBS: path.join(folder, 'blobs') } }
}

function started(folder: string, args: readonly string[], env: Record<string, string>) {
  const program = bundled(path.join(import.meta.dirname, '../src/cli/main.ts'))
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.err += chunk))
  return { child, output, ended: once(child, 'close').then(([code]) => code as number) }
}

const text = (pattern: RegExp): string => expect.stringMatching(pattern) as string
const AWAY = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' }

test('a typo gets a suggestion and exit code 2', async () => {
  const { folder, env } = place()
  const cases: [readonly string[], RegExp][] = [
    [['strat'], /^error {3}unknown command "strat"\. Did you mean "start"\? Run jobmill-uploads --help\n$/],
    [['mailboxes'], /jobmill-uploads mailboxes add NAME .*\n.*mailboxes list/],
    [
      ['mailboxes', 'token'],
      /^ {2}jobmill-uploads mailboxes token add MAILBOX .*\n.*token revoke ID [^\n]*\n$/,
    ],
    [['mailboxes', 'ad', 'x'], /Did you mean "mailboxes add"\?/],
    [['mailboxes', 'add'], /mailboxes add: missing argument\. Run jobmill-uploads mailboxes add NAME/],
    [['sweep', '--lod'], /^error {3}--lod: is not an option of jobmill-uploads sweep\. [^\n]*\n$/],
    [['check', '--jso'], /Did you mean "--json"\?/],
    [['check', '--db'], /--db: needs a value\. Pass --db URL/],
    [['start', '--port', 'x'], /^error {3}--port: must be a whole number from 0 to 65535\n$/],
    [
      ['start', '--admin-bind', '0.0.0.0'],
      /^error {3}--admin-bind: refusing to serve Mission Control without authentication .*; or bind to 127\.0\.0\.1/,
    ],
    [
      ['start', '--admin-port', '8788'],
      /^error {3}--admin-port: port 8788 is already used by the mailbox API/,
    ],
    [['check', '--db', 'mysql://me:hidden@h/x'], /^(?!.*hidden).*must be a PostgreSQL URL or a SQLite file/],
    [
      ['mailboxes', 'add', 'x', '--quota-bytes', 'lots'],
      /^error {3}--quota-bytes: must be a size \(got "lots"\)/,
    ],
    [
      ['mailboxes', 'add', 'x', '--quota-files', 'few'],
      /^error {3}--quota-files: must be a whole number \(got "few"\)/,
    ],
    [['mailboxes', 'list'], /^error {3}DATABASE_URL: file .*jobs\.db does not exist\. Pass the database/],
    [['sweep', '--db', 'nowhere.db'], /^error {3}--db: file nowhere\.db does not exist\. Pass the database/],
    [
      ['mailboxes', 'add', 'x', '--max-file', '2MiB', '--max-request', '1MiB'],
      /^error {3}--max-file: must not exceed the request limit \(got 2097152\)\. Pass at most 1048576/,
    ],
    [[], /jobmill-uploads: a file upload inbox/],
  ]
  for (const [args, pattern] of cases)
    expect([args, await type(args, env)]).toEqual([args, { code: 2, out: '', err: text(pattern) }])
  expect(readdirSync(folder)).toEqual([])
})

test.each(['LOCALHOST', '127.9.9.9', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  'check requires no tokens for Mission Control on %s',
  async (bind) => {
    const { code, err } = await type(['check'], { ...place().env, UPLOADS_ADMIN_BIND: bind })
    expect([code, err]).toEqual([0, ''])
  },
)

test('--version and --help', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(await type(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
  expect(VERSION).toBe(version)
  const help = await type(['mailboxes', 'token', 'add', '--help'])
  expect(help).toEqual({ code: 0, out: text(/--may upload\|consume\|both/), err: '' })
  expect(help.out).toContain('4 cannot reach the database or the inbox')
})

test('check shows the effective settings, checks everything, and creates nothing', async () => {
  const { folder, env } = place()
  const { code, out, err } = await type(['check'], {
    ...env,
    UPLOADS_EXPIRE_AFTER: '36h',
    UPLOADS_QUOTA_BYTES: 'none',
  })
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(
    /^database {10}.*jobs\.db \(created at the start\)\nblobs {13}.*blobs \(created at the start\)\n/,
  )
  for (const line of [
    'maxFileBytes      100MiB',
    'quotaBytes        none',
    'expireAfter       1d12h',
    'sweepEvery        5m',
    'ok',
  ])
    expect(out.split('\n')).toContain(line)
  expect(JSON.parse((await type(['check', '--json'], env)).out)).toMatchObject({
    maxFileBytes: 104_857_600,
    expireAfterMs: 86_400_000,
  })
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(env.DATABASE_URL, 'this is no database at all')
  writeFileSync(env.UPLOADS_BLOBS, '')
  const wrong = await type(['check', '--config', '/nowhere.yaml'], env)
  expect(wrong).toEqual({
    code: 2,
    out: '',
    err: 'error   /nowhere.yaml: file does not exist. Pass an existing file with --config\n',
  })
  const all = await type(['check'], { ...env, UPLOADS_ADMIN_BIND: '0.0.0.0' })
  const more = await type(['check'], {
    ...env,
    UPLOADS_ADMIN_BIND: '0.0.0.0',
    UPLOADS_MAX_FILES: 'all',
    UPLOADS_PROT: '1',
  })
  // Together with invalid settings and unused variables.
  expect([more.code, more.err.split('\n').slice(0, 2), more.err.endsWith(all.err)]).toEqual([
    2,
    [
      'warning UPLOADS_PROT: is set, but not used. Did you mean UPLOADS_PORT?',
      'error   UPLOADS_MAX_FILES: must be a whole number from 1 to 64',
    ],
    true,
  ])
  expect([all.code, all.err.split('\n').map((line) => line.slice(0, 15))]).toEqual([
    2,
    ['error   DATABAS', 'error   UPLOADS', 'error   UPLOADS', ''],
  ])
  expect(all.err).toContain('the file is not a SQLite database')
  expect(readdirSync(folder).toSorted()).toEqual(['blobs', 'jobs.db'])
  expect((await type(['check'], { ...place().env, UPLOADS_BLOBS: 'postgres' })).err).toMatch(
    /^error {3}UPLOADS_BLOBS: storing files in the database requires PostgreSQL\. Use a folder/,
  )
  // Nothing is created on the server either.
  const url = inject('postgresUrl')
  expect(
    await type(['check'], { DATABASE_URL: `${url}?schema=nobody_made`, UPLOADS_BLOBS: 'postgres' }),
  ).toMatchObject({
    code: 0,
    out: text(/^database .*\(created at the start\)\nblobs {13}in the database\n/),
  })
})

test('check and start refuse a folder that belongs to another database', async () => {
  const [mine, other] = [place(), place()]
  for (const { env } of [mine, other]) expect((await type(['mailboxes', 'add', 'x'], env)).code).toBe(0)
  const before = readdirSync(mine.folder)
  expect(await type(['check'], mine.env)).toMatchObject({ code: 0, err: '' })
  expect(readdirSync(mine.folder)).toEqual(before)
  const server = { ...place().env, DATABASE_URL: addressOf('postgres') }
  await type(['mailboxes', 'add', 'x'], server)
  expect(await type(['check'], server)).toMatchObject({ code: 0, err: '' })
  const refusal = /folder \S+ belongs to inbox \S{36} of another database\. Use another folder/
  const url = inject('postgresUrl')
  const others = [other, place()].map(({ env }) => env.DATABASE_URL)
  for (const database of [...others, server.DATABASE_URL, `${url}?schema=nobody_made`]) {
    const env = { ...mine.env, DATABASE_URL: database }
    expect(await type(['check'], env)).toEqual({ code: 2, out: '', err: text(refusal) })
  }
  const env = { ...mine.env, DATABASE_URL: other.env.DATABASE_URL, UPLOADS_PORT: '0' }
  expect((await type(['start'], env)).err).toMatch(refusal)
})

test('a missing database is reported with the place that names it', async () => {
  const { folder } = place()
  const config = path.join(folder, 'x.yaml')
  writeFileSync(config, 'port: 1\ndatabase: nowhere.db\n')
  expect((await type(['sweep', '--config', config])).err).toMatch(
    /x\.yaml:2 database: file nowhere\.db does not exist/,
  )
  expect((await type(['sweep'])).err).toMatch(
    /^error {3}database: file uploads\.db does not exist \(the default\)\. Pass .* with --db/,
  )
})

test('an unreachable database or a port in use is one line with the fix', async () => {
  const { folder, env } = place()
  const away = text(
    /^error {3}the database cannot be reached: [^\n]*Check the database URL, and that the server is running\.\n$/,
  )
  const commands = [['check'], ['start'], ['sweep'], ['mailboxes', 'list'], ['mailboxes', 'add', 'x']]
  const all = await Promise.all(commands.map((args) => type(args, { ...env, ...AWAY })))
  for (const ran of all) expect(ran).toEqual({ code: 4, out: '', err: away })
  const busyServer = createServer().listen(0, '127.0.0.1')
  await once(busyServer, 'listening')
  onTestFinished(() => void busyServer.close())
  const { port } = busyServer.address() as AddressInfo
  expect(await type(['start', '--port', String(port)], env)).toEqual({
    code: 2,
    out: '',
    err: `error   --port: is already in use (got ${port}). Use another port with --port.\n`,
  })
  mkdirSync(path.join(folder, 'x'))
  expect(await type(['mailboxes', 'add', 'x', '--db', path.join(folder, 'x')], env)).toEqual({
    code: 4,
    out: '',
    err: text(/^error {3}.*the file cannot be opened[^\n]*\n$/),
  })
  writeFileSync(path.join(folder, 'file'), '')
  expect(await type(['mailboxes', 'add', 'x'], { ...env, UPLOADS_BLOBS: path.join(folder, 'file') })).toEqual(
    {
      code: 1,
      out: '',
      err: text(/^error {3}EEXIST[^\n]*\n$/),
    },
  )
})

test('every command reports what it did, and exits with 3 for unknown ids', async () => {
  const { env } = place()
  const { id } = JSON.parse((await type(['mailboxes', 'add', 'laptop', '--json'], env)).out) as { id: string }
  const made = await type(['mailboxes', 'token', 'add', id.toUpperCase(), '--may', 'consume'], env)
  const token = /^id {6}(\S+)$/m.exec(made.out)?.[1] ?? ''
  expect(await type(['mailboxes', 'token', 'add', id, '--may', 'dance'], env)).toEqual({
    code: 2,
    out: '',
    err: 'error   --may: is not a permission (got "dance"). Pass upload, consume or both.\n',
  })
  const outputs: [string[], object][] = [
    [['mailboxes', 'token', 'revoke', token], { code: 0, out: `revoked token ${token}\n` }],
    [['mailboxes', 'token', 'revoke', token], { code: 3, err: text(/unknown token "/) }],
    [
      ['mailboxes', 'remove', id],
      { code: 0, out: `removed mailbox ${id}; the next sweep deletes its files\n` },
    ],
    [['mailboxes', 'remove', id], { code: 3, err: text(/unknown mailbox "/) }],
    [['mailboxes', 'token', 'add', id], { code: 3, err: text(/unknown mailbox "/) }],
    [
      ['mailboxes', 'list'],
      { code: 0, out: 'no mailboxes; create one with: jobmill-uploads mailboxes add NAME\n' },
    ],
    [['mailboxes', 'list', '--json'], { code: 0, out: '[]\n' }],
  ]
  for (const [args, answer] of outputs) expect(await type(args, env)).toMatchObject(answer)
})

test('A B10 creates a mailbox, receives and serves a file, stops on a signal, and sweeps by hand', async () => {
  const { folder, env } = place()
  const added = await type(
    ['mailboxes', 'add', 'letters', '--quota-files', '5', '--uploads-at-once', '3', '--json'],
    env,
  )
  const { id, token, quotaFiles, uploadsPerMailbox } = JSON.parse(added.out) as {
    id: string
    token: string
    quotaFiles: number
    uploadsPerMailbox: number
  }
  expect([added.code, quotaFiles, uploadsPerMailbox]).toEqual([0, 5, 3])
  const { child, output, ended } = started(folder, ['start', '--port', '0', '--admin-port', '0'], env)
  await expect.poll(() => output.out + output.err).toContain('ready')
  const url = /^ready {3}(\S+);/m.exec(output.out)?.[1] ?? ''
  const headers = { authorization: `Bearer ${token}`, connection: 'close' }
  const sent = await fetch(`${url}/mailboxes/${id}/uploads`, {
    method: 'POST',
    headers,
    body: formOf([{ bytes: 'hello' }]),
  })
  const { files } = (await sent.json()) as { files: { id: string }[] }
  const got = await fetch(`${url}/mailboxes/${id}/uploads/${files[0]?.id}/content`, { headers })
  expect(await got.text()).toBe('hello')
  const adminUrl = /^api {5}(\S+)\/api\/overview$/m.exec(output.out)?.[1] ?? ''
  const apps = (await (
    await fetch(`${adminUrl}/api/apps`, { headers: { connection: 'close' } })
  ).json()) as object
  expect(JSON.stringify(apps)).toContain('"Uploads"')
  // S2: a proxy in front of the mailboxes must not expose Mission Control.
  for (const hidden of ['/', '/api/apps', '/metrics'])
    expect((await fetch(`${url}${hidden}`, { headers: { connection: 'close' } })).status).toBe(404)
  child.kill('SIGTERM')
  await ended
  expect(output.err).toMatch(/started/)
  expect([await ended, output.err, output.out.endsWith('\nstopped\n')]).toEqual([
    0,
    // Starts and stops are logged at info.
    expect.stringMatching(/^jobmill warn {2}no authentication: [^\n]*\n(?:jobmill info [^\n]*\n)+$/),
    true,
  ])
  const swept = await type(['sweep', '--json'], env)
  expect(JSON.parse(swept.out)).toMatchObject({ acked: 0, expired_unfetched: 0 })
  const listed = await type(['mailboxes', 'list'], env)
  expect(listed.out).toMatch(
    new RegExp(
      `^${id}  letters\\n  holds 1 files of 5, 5B of 10GiB; acknowledged files count until they are swept\\n  accepts files up to 100MiB, requests up to 256MiB with 64 files, 3 parallel uploads\\n  token `,
    ),
  )
  expect(JSON.parse((await type(['mailboxes', 'list', '--json'], env)).out)).toMatchObject([
    {
      id,
      quotaFiles: 5,
      quotaBytes: null,
      limits: { quotaFiles: 5, maxFiles: 64 },
      used: { files: 1, bytes: 5 },
    },
  ])
  expect((await type(['mailboxes', 'remove', id], env)).code).toBe(0)
  expect(JSON.parse((await type(['sweep', '--json'], env)).out)).toMatchObject({ mailbox_removed: 1 })
})

test('a size is printed as it can be entered', () => {
  for (const bytes of [0, 1, 1_000, 1_024, 1_500_000, 104_857_600, 10 * 1_024 ** 3, 12_345])
    expect(bytesOf(sizeText(bytes))).toBe(bytes)
  expect([sizeText(104_857_600), sizeText(5_000_000), sizeText(12_345)]).toEqual(['100MiB', '5MB', '12345B'])
})

test('S P6 the inbox keeps working after the readers of its output have ended, and stops with 0', async () => {
  const { folder, env } = place()
  const { child, output, ended } = started(folder, ['start', '--port', '0', '--admin-port', '0'], env)
  await expect.poll(() => output.out + output.err).toContain('ready')
  const url = /^ready {3}(\S+);/m.exec(output.out)?.[1] ?? ''
  child.stdout.destroy()
  child.stderr.destroy()
  expect((await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

test('D9 a second signal ends the inbox while uploads wait for a silent database', async () => {
  const { folder, env } = place()
  const url = new URL(inject('postgresUrl'))
  const schema = freshSchema(String(url), 'uploads')
  onTestFinished(() => deregister(postgres(inject('postgresUrl'), { schema })))
  url.searchParams.set('schema', schema)
  const direct = { ...env, DATABASE_URL: String(url) }
  const { id, token } = JSON.parse((await type(['mailboxes', 'add', 'letters', '--json'], direct)).out) as {
    id: string
    token: string
  }
  const { port, goSilent, dropped } = await silentProxy(Number(url.port))
  url.port = String(port)
  const args = ['start', '--port', '0', '--admin-port', '0']
  const { child, output, ended } = started(folder, args, { ...env, DATABASE_URL: String(url) })
  await expect.poll(() => output.out + output.err, { timeout: 20_000 }).toContain('ready')
  const address = /^ready {3}(\S+);/m.exec(output.out)?.[1] ?? ''
  goSilent()
  const answers = [1, 2, 3].map(() =>
    fetch(`${address}/mailboxes/${id}/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: formOf([{ bytes: 'hello' }]),
    }).then(
      ({ status }) => status,
      () => 'cut off',
    ),
  )
  await dropped(answers.length)
  child.kill('SIGTERM')
  child.kill('SIGINT')
  expect([await ended, output.out]).toEqual([0, expect.stringMatching(/\nstopped\n$/)])
  // It did not wait for the deadline of their statements, which would be reported.
  expect(await Promise.all(answers)).toEqual(['cut off', 'cut off', 'cut off'])
  expect(output.err).not.toContain('did not respond within')
})
