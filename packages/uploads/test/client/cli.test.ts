/** `jobmill-uploads upload` and `pull` against a real inbox. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { killAtEnd } from '../../../../test/support/programs/kill-at-end.ts'
import { bundled } from '../../../../test/support/programs/programs.ts'
import { progressBar } from '../../src/cli/progress-bar.ts'
import { type Box, mailbox, pending, sceneForAll } from '../support/inboxes.ts'
import { type } from '../support/type.ts'
import { freshFolder, namesIn } from './support/folders.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

describe('the command line of the client', () => {
  /** Holds up an upload that has started. */
  let holdUpload: (() => Promise<void>) | null = null
  const getScene = sceneForAll('sqlite', {
    async fault(point) {
      if (point === 'receive:staged') await holdUpload?.()
    },
  })

  async function setUp(): Promise<{
    box: Box
    folder: string
    env: Record<string, string>
    flags: string[]
  }> {
    const { url } = getScene()
    const box = await mailbox(getScene())
    const folder = freshFolder()
    const file = path.join(folder, 'token')
    writeFileSync(file, `${box.token}\n`)
    const env = { UPLOADS_URL: url, UPLOADS_MAILBOX: box.id, UPLOADS_TOKEN_FILE: file }
    return { box, folder, env, flags: ['--url', url, '--mailbox', box.id, '--token-file', file] }
  }

  test('E37 upload sends files, a key prevents duplicates, and pull --once fetches them', async () => {
    const { box, folder, env, flags } = await setUp()
    const files = ['a b.txt', 'c.pdf'].map((name) => path.join(folder, name))
    for (const file of files) writeFileSync(file, `this is ${file}`)
    const [first, second] = await Promise.all([
      type(['upload', ...files, ...flags, '--key', 'k']),
      type(['upload', ...files, '--key', 'k', '--json'], env),
    ])
    expect(first).toMatchObject({ code: 0, err: '' })
    const sent = JSON.parse(second.out) as { uri: string; name: string; mimeType: string }[]
    expect(first.out).toBe(sent.map(({ uri, name }) => `file    ${uri}  ${name}\n`).join(''))
    expect(sent).toMatchObject([
      { name: 'a_b.txt', mimeType: 'text/plain' },
      { name: 'c.pdf', mimeType: 'application/pdf' },
    ])
    expect((await pending(box)).files).toHaveLength(2)
    const dir = path.join(folder, 'pulled')
    const pulled = await type(['pull', dir, '--once', '--keep', 'forever', ...flags])
    expect(pulled).toMatchObject({
      code: 0,
      err: '',
    })
    expect(pulled.out).toMatch(/^(file {4}.*\n){2}done {4}2 files\n$/)
    expect(
      namesIn(dir)
        .map((name) => readFileSync(path.join(dir, name), 'utf8'))
        .toSorted(),
    ).toEqual(files.map((file) => `this is ${file}`).toSorted())
    expect((await pending(box)).files).toEqual([])
  })

  test('pull runs until Ctrl+C, fetches new files, locks its folder, and exits cleanly', async () => {
    const { box, folder, env } = await setUp()
    const dir = path.join(folder, 'pulled')
    const child = spawn(process.execPath, [bundled(MAIN), 'pull', dir, '--listen'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    killAtEnd(child)
    const ended = once(child, 'close')
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    expect(await lines.next()).toMatchObject({ value: `ready   ${dir}; stop with Ctrl+C` })
    await box.sent('one')
    expect((await lines.next()).value).toContain(`file    ${dir}/`)
    // This test runs in another process than the puller.
    expect(await type(['pull', dir, '--once'], env)).toEqual({
      code: 3,
      out: '',
      err: expect.stringContaining(`is in use by process ${child.pid}`) as string,
    })
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    expect(namesIn(dir)).toHaveLength(1)
  })

  test('E37 an aborted upload reports how many files arrived, and how to send the rest without duplicates', async () => {
    const { folder, env } = await setUp()
    // The limit forces one request per file.
    const box = await mailbox(getScene(), { maxRequestBytes: 1_500 })
    writeFileSync(path.join(folder, 'token'), box.token)
    const files = ['a', 'b', 'c'].map((name) => path.join(folder, name))
    for (const file of files) writeFileSync(file, 'x'.repeat(800))
    const args = ['upload', ...files, '--mailbox', box.id]
    const [released, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let started = 0
    holdUpload = async () => {
      started += 1
      if (started < 2) return
      reached.resolve()
      await released.promise
    }
    const child = spawn(process.execPath, [bundled(MAIN), ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    killAtEnd(child)
    const ended = once(child, 'close')
    await reached.promise
    child.kill('SIGINT')
    expect(await ended).toEqual([1, null])
    holdUpload = null
    released.resolve()
    const [, key = ''] =
      /^stopped 1 of 3 files arrived; run the command again with --key (\S+) to send the rest/m.exec(err) ??
      []
    expect(err.split('\n')).toHaveLength(3)
    expect(await type([...args, '--key', key], env)).toMatchObject({ code: 0, err: '' })
    expect((await pending(box)).files).toHaveLength(3)
  })

  test('N5 pull --once that is interrupted says so in one line', async () => {
    // Accepts connections and never answers.
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await once(silent, 'listening')
    const folder = freshFolder()
    const token = path.join(folder, 'token')
    writeFileSync(token, 'x'.repeat(40))
    const { port } = silent.address() as AddressInfo
    const at = ['--url', `http://127.0.0.1:${port}`, '--mailbox', randomUUID(), '--token-file', token]
    const child = spawn(
      process.execPath,
      [bundled(MAIN), 'pull', path.join(folder, 'pulled'), '--once', ...at],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    killAtEnd(child)
    const ended = once(child, 'close')
    const [socket] = (await once(silent, 'connection')) as [Socket]
    onTestFinished(() => void socket.destroy())
    child.kill('SIGINT')
    expect(await ended).toEqual([1, null])
    expect(err).toMatch(
      /^stop {4}[^\n]*\nstopped before all files were pulled; run the command again[^\n]*\n$/,
    )
  })

  test('a full mailbox is a refusal (3), not unreachable (4)', async () => {
    const { folder, flags } = await setUp()
    const box = await mailbox(getScene(), { quotaBytes: 3 })
    writeFileSync(path.join(folder, 'token'), box.token)
    const line = [...flags.slice(0, 2), '--mailbox', box.id, ...flags.slice(4)]
    expect(await type(['upload', path.join(folder, 'token'), ...line])).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringMatching(/^error {3}[^\n]*\n$/) as string,
    })
  })

  test('errors name the option and the fix, and have an exit code', async () => {
    const { folder, env, flags } = await setUp()
    mkdirSync(path.join(folder, 'x'))
    const cases: [string[], Record<string, string>, number, RegExp][] = [
      [['pull', folder], {}, 2, /--url: is missing. Pass --url/],
      [
        ['pull', folder, ...flags, '--concurrency', 'many'],
        {},
        2,
        /--concurrency: must be a whole number \(got "many"\)/,
      ],
      [['pull', folder, ...flags, '--keep', 'long'], {}, 2, /--keep: must be a duration/],
      [
        ['pull', folder, ...flags, '--concurrency', '65'],
        {},
        2,
        /--concurrency: must be a whole number from 1 to 64 \(got 65\)\. Pass a number in this range/,
      ],
      [['pull'], env, 2, /pull: missing argument. Run jobmill-uploads pull DIR/],
      // A file instead of a folder.
      [
        ['pull', path.join(folder, 'token'), ...flags],
        {},
        2,
        /^[^\n]*: error {3}DIR: must be a writable folder[^\n]*\n$/,
      ],
      [['pull', path.join(folder, 'token', 'in'), ...flags], {}, 2, /DIR: must be a writable folder/],
      [['upload', path.join(folder, 'token'), '--url', 'http://127.0.0.1:1'], env, 4, /is unreachable/],
      [['upload', path.join(folder, 'x')], env, 2, /x is not a file/],
      [
        ['upload', path.join(folder, 'token')],
        { ...env, UPLOADS_TOKEN_FILE: '/nowhere' },
        2,
        /cannot be read from \/nowhere/,
      ],
      [['upload', path.join(folder, 'token')], { ...env, UPLOADS_TOKEN_FILE: MAIN }, 2, /must be a token/],
      [
        ['upload', path.join(folder, 'token')],
        { ...env, UPLOADS_MAILBOX: '00000000-0000-7000-8000-000000000000' },
        3,
        /the inbox rejected the token for this mailbox\. Check --token-file and --mailbox/,
      ],
    ]
    const results = await Promise.all(cases.map(([args, own]) => type(args, own)))
    for (const [n, [args, , code, text]] of cases.entries()) {
      expect(`${args.join(' ')}: ${results[n]?.err}`).toMatch(text)
      expect(results[n]?.code).toBe(code)
    }
  })
})

test('the progress bar fits on one line, and prints nothing without a terminal', () => {
  const writes: string[] = []
  const write = (text: string): void => void writes.push(text)
  const bar = progressBar({ isTTY: true, columns: 60, write })
  bar.show(0, 2_000_000, 'a')
  bar.show(1_000_000, 2_000_000, 'evil\u001B[2J\nname'.repeat(10))
  bar.end()
  bar.end()
  expect(writes).toHaveLength(3)
  expect(writes[1]).toContain(`${'█'.repeat(15)}${'░'.repeat(15)}  50%  1.0 of 2.0 MB  evil\\u`)
  expect(writes.map((text) => text.replace('\r\u001B[2K', '').length)).toEqual([53, 59, 0])
  progressBar({ write }).show(1, 2, 'a')
  expect(writes).toHaveLength(3)
})
