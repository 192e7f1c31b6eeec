/** The config: YAML and the environment above it, every problem at once with its place; and the command line as a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ConfigInvalid, readConfig, variableOf } from '../src/config/read-config.ts'
import { NAMES } from '../src/config/shape.ts'
import { freshFile } from '../../../test/support/databases.ts'
import { bundled } from './support/bundled.ts'
import { formOf } from './support/inboxes.ts'

function fileOf(text: string): string {
  const file = path.join(path.dirname(freshFile()), 'inbox.yaml')
  writeFileSync(file, text)
  return file
}

function problemsOf(file: string | undefined, env: Record<string, string> = {}): string[] {
  try {
    readConfig(file, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return error.problems.map(({ place, message }) => `${place.replace(/^.*\//, '')}: ${message}`)
  }
}

describe('a config', () => {
  test('is read from YAML, and the environment counts more', () => {
    const file = fileOf(`
database: files.db
maxFileBytes: 10MiB
quotaFiles: none
expireAfter: 36h
ackRetention: 0
figuresByMailbox: true
job: { kind: file.received, queue: files }
`)
    expect(
      readConfig(file, { DATABASE_URL: 'postgres://here/db', UPLOADS_PORT: '9000', UPLOADS_BLOBS: ' ' }),
    ).toEqual({
      database: 'postgres://here/db',
      maxFileBytes: 10 * 1_024 ** 2,
      quotaFiles: 'none',
      expireAfter: 36 * 3_600_000,
      ackRetention: 0,
      figuresByMailbox: true,
      port: 9_000,
      job: { kind: 'file.received', queue: 'files' },
    })
    expect(readConfig(fileOf(''), {})).toEqual({})
    expect(variableOf('maxRequestBytes')).toBe('UPLOADS_MAX_REQUEST_BYTES')
    expect(new Set(NAMES.map(variableOf)).size).toBe(NAMES.length)
  })

  test('tells everything that is wrong at once, each with its place and what to do', () => {
    const file = fileOf('port: 99999\nackRetention: -1s\nquotaBytes: lots\nfoo: 1\njob: { queue: x }\n')
    expect(problemsOf(file, { UPLOADS_MAX_FILES: '65', UPLOADS_SWEEP_EVERY: 'soon' })).toEqual([
      'inbox.yaml:1 port: give a whole number of 0 to 65535',
      'UPLOADS_MAX_FILES: give a whole number of 1 to 64',
      "inbox.yaml:3 quotaBytes: give bytes, or a text such as '100MiB'",
      "inbox.yaml:2 ackRetention: give a length of time such as '90s', '1h30m' or '24h'; 0 is at once, and it is never negative",
      "UPLOADS_SWEEP_EVERY: give a length of time such as '90s', '1h30m' or '24h'; 0 is at once, and it is never negative, of at least 1 s",
      'inbox.yaml job.kind: give a text',
      `inbox.yaml:4 foo: there is no such name. Known are ${NAMES.join(', ')}`,
    ])
  })

  test('that is no YAML, no list of names, or not there, says so', () => {
    expect(problemsOf(fileOf('a: [1'))[0]).toMatch(/^inbox.yaml:1: /)
    expect(problemsOf(fileOf('- 1'))[0]).toContain('is not a list of names and values')
    expect(problemsOf('nowhere.yaml')).toEqual([
      'nowhere.yaml: there is no such file. Name another with --config',
    ])
  })
})

describe('the command line', () => {
  let program = ''
  beforeAll(async () => {
    program = await bundled(path.join(import.meta.dirname, '../src/cli/main.ts'))
  })

  function run(folder: string, args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const said = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
    const ended = once(child, 'close').then(([code]) => code as number)
    return { child, said, ended }
  }

  async function ran(folder: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const { said, ended } = run(folder, args)
    return { code: await ended, ...said }
  }

  test('B10 makes a mailbox, takes a file in, hands it out, stops when it is told to, and sweeps by hand', async () => {
    const folder = path.dirname(freshFile())
    const added = await ran(folder, 'mailboxes', 'add', 'letters', '--quota-files', '5', '--json')
    const { id, token, quotaFiles } = JSON.parse(added.out) as {
      id: string
      token: string
      quotaFiles: number
    }
    expect([added.code, quotaFiles]).toEqual([0, 5])
    const { child, said, ended } = run(folder, ['start', '--port', '0'])
    await expect.poll(() => said.out + said.err).toContain('ready')
    const url = /^ready {3}(\S+);/m.exec(said.out)?.[1] ?? ''
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    const sent = await fetch(`${url}/mailboxes/${id}/uploads`, {
      method: 'POST',
      headers,
      body: formOf([{ bytes: 'hello' }]),
    })
    const { files } = (await sent.json()) as { files: { id: string }[] }
    const got = await fetch(`${url}/mailboxes/${id}/uploads/${files[0]?.id}/content`, { headers })
    expect(await got.text()).toBe('hello')
    const apps = (await (
      await fetch(`${url}/api/apps`, { headers: { connection: 'close' } })
    ).json()) as object
    expect(JSON.stringify(apps)).toContain('"Uploads"')
    child.kill('SIGTERM')
    expect([await ended, said.err]).toEqual([0, ''])
    const swept = await ran(folder, 'sweep', '--json')
    expect(JSON.parse(swept.out)).toMatchObject({ acked: 0, expired_unfetched: 0 })
    expect((await ran(folder, 'mailboxes', 'list')).out).toContain(`${id}  letters`)
    expect((await ran(folder, 'mailboxes', 'remove', id)).code).toBe(0)
    expect(JSON.parse((await ran(folder, 'sweep', '--json')).out)).toMatchObject({ mailbox_removed: 1 })
  })

  test('says what is wrong, and ends with a code for it', async () => {
    const folder = path.dirname(freshFile())
    writeFileSync(path.join(folder, 'jobmill-uploads.yaml'), 'port: x\nblobs: postgres\n')
    const all = await Promise.all([
      ran(folder, 'check'),
      ran(folder, 'sweep', '--config', 'other.yaml'),
      ran(folder, 'mailboxes', 'add'),
      ran(folder, 'dance'),
      ran(folder, 'start', '--loud'),
      ran(folder, '--help'),
    ])
    expect(all.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 0])
    expect(all[0]?.err).toBe('error   jobmill-uploads.yaml:1 port: give a whole number of 0 to 65535\n')
    expect(all[3]?.err).toContain('there is no command "dance"')
    expect(all[5]?.out).toContain('mailboxes token revoke')
    writeFileSync(path.join(folder, 'jobmill-uploads.yaml'), 'blobs: postgres\n')
    expect((await ran(folder, 'check')).err).toContain(
      'blobs: files are kept in a database by PostgreSQL only',
    )
  })
})
