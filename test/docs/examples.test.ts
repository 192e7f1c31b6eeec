// Every example runs to its end as a separate program in its own folder, and prints what it demonstrates.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../support/suite/in-full.ts'
import { bundled } from '../support/programs/programs.ts'
import { exampleRunner, expectToShow, freshFolder, type Place, TIMEOUT_MS } from './run-example.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const examples = join(root, 'examples')

interface Example {
  readonly file: string
  /** Where it can run. */
  readonly on: readonly Place[]
  /** In this order. */
  readonly shows: readonly string[]
}

const EXAMPLES: readonly Example[] = [
  {
    file: 'hello.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'duplicate  the key welcome:ada is held by ',
      'runs       email.send to ops@example.com\nruns       email.send to team@example.com',
      'done       upstream.call in attempt 3',
      'done       report.build, delayed by 1 s, after ',
      'history    upstream.call attempt 1 failed',
      'history    upstream.call attempt 3 returned',
      ' 0 dead, 0 waiting',
      'stopped ',
    ],
  },
  {
    file: 'limits.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'queue      20 mails',
      'refused    ',
      'handler    3 calls',
      'permits    6 reads, at most 2',
      'outside    1',
      'changed    20',
      'Did you mean "smtp"?',
    ],
  },
  {
    file: 'chunks.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'stored     1000 views with fewer than 100 inserts: true',
      'refused    JobmillError: ',
      'counts     1000 done, 1 dead',
    ],
  },
  {
    file: 'debounce.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'window     enqueued, and duplicate after its job is done',
      'started    enqueued, duplicate, and enqueued while it runs: 2 runs',
      'debounce   enqueued, replaced, replaced: indexed "Hello"',
    ],
  },
  {
    file: 'schedules.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'means    at 02:30 every day, Europe/Paris time',
      'next     2027-03-28T01:00:00.000Z',
      'at character 3',
      'history  0 ticks ran twice',
      'differs from code: when',
      'trigger  enqueued, and done',
      'deleted: true',
      'stopped',
    ],
  },
  {
    file: 'typed-payloads.ts',
    on: ['sqlite'],
    shows: [
      'done     ada@example.com owes 19.99 by 2027, copies: 1',
      'done     3 words',
      'refused  PAYLOAD_INVALID job.payload.to: does not match its schema',
    ],
  },
  {
    file: 'transaction-pg.ts',
    on: ['postgres'],
    shows: [
      'rolled back  Error: the card was refused',
      'not stored   the job is null',
      'retry        attempt 1: Error: failed after complete(tx)',
      'committed    the job is done, receipts: 1',
    ],
  },
  {
    file: 'transaction-kysely.ts',
    on: ['postgres'],
    shows: [
      'enqueued     ada@example.com, not visible before the commit: null',
      'committed    {"sent":"ada@example.com"}',
      'rolled back  Error: blocked@example.com may not sign up',
      'not stored   accounts: 0',
    ],
  },
  {
    file: 'transaction-sqlite.ts',
    on: ['sqlite'],
    shows: [
      'rolled back  Error: the card was refused; orders: 0',
      'retry        attempt 1: Error: failed after complete(tx)',
      'committed    orders: 1',
      'done         the job is done, receipts: 1',
    ],
  },
  {
    file: 'cancel-from-another-process.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'parent   the job is running in process ',
      'parent   cancel: changed',
      'JobmillError: job ',
      ' was cancelled: the customer changed their mind',
      'parent   the job is cancelled',
    ],
  },
  {
    file: 'command.ts',
    on: ['sqlite'],
    shows: [
      'sort     "c\\nb\\na\\n"',
      'ls       command.ts',
      'failed   JobmillError: job ',
      '"ls" failed with exit code ',
      '/no/such/folder',
      'refused  JobmillError: job ',
      'is not an allowed program (got "rm")',
    ],
  },
  {
    file: 'saga.ts',
    on: ['sqlite', 'postgres'],
    shows: [
      'done     {"shipped":"lamp"}',
      'reserve  a piano\ncharge   3900 EUR\nfailed   JobmillError: job ',
      'a piano is too heavy',
      'undo     shipment ',
      'undo     payment ',
      'undo     reservation ',
    ],
  },
  {
    file: 'human-in-the-loop.ts',
    on: ['sqlite', 'postgres'],
    shows: ['done     {"paid":true}', 'done     {"paid":false,"why":"no receipt"}', '"why":"expired"}'],
  },
  {
    file: 'webhook.ts',
    on: ['sqlite', 'postgres'],
    shows: ['done     {"status":"paid"}', 'again    204', 'forged   401', 'invalid  422'],
  },
  {
    file: 'worker-pool.ts',
    on: ['sqlite'],
    shows: [
      'children   ',
      'done       1, 2, 3 words',
      'dead       JobmillError: job ',
      'payload.text: is missing',
    ],
  },
]

const run = exampleRunner()

const cases = EXAMPLES.flatMap((example, nth) => {
  // An example for both stores alternates between them; every night it runs on both.
  const on = inFull(example.on, [example.on[(nth + 1) % example.on.length] ?? 'sqlite'])
  return on.map((place) => ({ ...example, place }))
})

test.each(cases)(
  'examples/$file runs on $place',
  async ({ file, place, shows }) => expectToShow(await run(file, place), shows),
  TIMEOUT_MS,
)

test(
  'examples/memory-store/try.ts runs a mill on a store of its own',
  async () => expectToShow(await run('memory-store/try.ts', 'sqlite'), ['42']),
  TIMEOUT_MS,
)

// test/upgrades/databases.test.ts opens databases of other releases.
test.each(inFull(EXAMPLES.slice(0, 1), []))(
  'examples/$file runs again on the file that it left behind',
  async (hello) => {
    const folder = freshFolder()
    for (const done of [5, 10]) {
      const ended = await run(hello.file, 'sqlite', {}, folder)
      expectToShow(ended, [...hello.shows.slice(0, 6), `default: ${done} done`])
    }
  },
  TIMEOUT_MS,
)

test(
  'the worker pool runs where there is no Python',
  async () => {
    const ended = await run('worker-pool.ts', 'sqlite', { PATH: freshFolder() })
    expectToShow(ended, [
      'python3 not found, using node worker.mjs',
      'done       1, 2, 3 words',
      'payload.text: is missing',
    ])
  },
  TIMEOUT_MS,
)

describe('without DATABASE_URL', () => {
  test.each(EXAMPLES.filter(({ on }) => !on.includes('sqlite')))(
    'examples/$file says in one line what it needs, and fails',
    async ({ file }) => {
      const { code, output } = await run(file, 'sqlite')
      expect(code).toBe(1)
      expect(output.trim()).toMatch(/^Set DATABASE_URL, for example to postgres:.*$/)
    },
    TIMEOUT_MS,
  )
})

test(
  'npm start: the demo runs jobs, answers requests, and exits on SIGINT',
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jobmill-demo-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const bin = fileURLToPath(new URL('../../packages/jobmill/bin/jobmill.js', import.meta.url))
    const { DATABASE_URL: _outer, ...env } = process.env
    const child = spawn(process.execPath, [bin, 'start', join(examples, 'demo.config.ts'), '--port', '0'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    let output = ''
    child.stderr.on('data', (data) => (output += String(data)))
    await expect.poll(() => output).toContain('"mill is ready"')
    const [, url = ''] = /"url":"([^"]+)","msg":"mill is ready"/.exec(output) ?? []
    const enqueued = await fetch(`${url}/api/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'demo.echo', payload: { value: 'hi' } }),
    })
    const { id } = (await enqueued.json()) as { id: string }
    const state = async () => {
      const answer = await fetch(`${url}/api/jobs/${id}`, { headers: { connection: 'close' } })
      return ((await answer.json()) as { job: { state: string } }).job.state
    }
    await expect.poll(state).toBe('done')
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
  },
)

test(
  'the first program of README.md runs as it is pasted, and the CLI finds its job without an option',
  async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const [, program = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? []
    expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
    const folder = freshFolder()
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'hello.ts'), program)
    const ended = await run(join(folder, 'hello.ts'), 'sqlite', {}, folder)
    expectToShow(ended, ["{ sent: 'ada@example.com' }"])
    const cli = bundled(join(root, 'packages/jobmill/src/cli/main.ts'))
    expectToShow(await run(cli, 'sqlite', {}, folder, ['jobs', 'list']), ['email.send'])
  },
  TIMEOUT_MS,
)

test(
  'the tour of README.md runs as it is pasted, and again',
  async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const [, program = ''] = /^## Tour$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? []
    // Inside the repository, so that pg and zod resolve, and ignored by git.
    mkdirSync(join(root, 'reports'), { recursive: true })
    const folder = mkdtempSync(join(root, 'reports/tour-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'tour.ts'), program.replace('port: 8787', 'port: 0'))
    for (let runs = 0; runs < inFull(2, 1); runs += 1)
      expectToShow(await run(join(folder, 'tour.ts'), 'postgres', {}, folder), [
        "{ sent: 'ada@example.com' }",
        'http://127.0.0.1:',
      ])
  },
  TIMEOUT_MS,
)

test('no example is missing here', () => {
  const files = readdirSync(examples).filter((name) => name.endsWith('.ts'))
  expect([...EXAMPLES.map(({ file }) => file), 'demo.config.ts'].toSorted()).toEqual(files.toSorted())
})
