// Tests `npm run start:cluster`: its guarantees hold on both stores, it cleans up, and it notices a broken
// guarantee. Each of its messages appears once, on made-up facts or in a run with planted faults.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { killAtEnd } from '../support/programs/kill-at-end.ts'
import { type Facts, judge } from '../../proof/cluster/verdict/judge.ts'
import { ledgerReader, ledgerWriter, type Run } from '../../proof/cluster/ledger.ts'
import type { Lie } from '../../proof/cluster/lies.ts'
import { readOptions } from '../../proof/cluster/options.ts'
import type { Sent } from '../../proof/cluster/stream.ts'
import { inFull } from '../support/suite/in-full.ts'
import { inTurns } from '../support/suite/in-turns.ts'
import { withJobmill } from '../support/programs/programs.ts'

const program = fileURLToPath(new URL('../../proof/cluster/main.ts', import.meta.url))
const TIMEOUT_MS = 300_000

function ownTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-proof-'))
  // A server that runs as another user has its folder inside.
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>
  /** Resolves when the process has printed this text. */
  readonly waitForOutput: (text: string) => Promise<void>
}

function start(args: readonly string[], folder: string, lies: readonly Lie[] = []): Started {
  const node = withJobmill()
  const child = spawn(process.execPath, [...node.args, program, ...args], {
    env: { ...process.env, ...node.env, TMPDIR: folder, JOBMILL_CLUSTER_LIE: lies.join(',') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killAtEnd(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
  return {
    child,
    ended,
    async waitForOutput(text) {
      // A process that was ended by a signal has no exit code.
      while (!output.includes(text) && child.exitCode === null && child.signalCode === null)
        await Promise.race([once(child.stdout, 'data'), ended])
    },
  }
}

/** Every process of a proof has its folder among its arguments. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
}

/** A killed process disappears a moment later. */
async function expectNothingLeft(folder: string): Promise<void> {
  await expect.poll(() => [...readdirSync(folder), ...processesOf(folder)]).toEqual([])
}

const SMALL_LOAD = ['--seconds', '4', '--rate', '40']

const STORES = [
  ['sqlite', ['--sqlite'], 'SIGTERM'],
  ['postgres', [], 'SIGINT'],
] as const

// packages/jobmill/test/processes proves the guarantees for killed processes, and test/postgres/comes-back
// for a server that goes down. So `npm test` covers only start, end and judge of this proof.
describe.each(inFull<readonly (typeof STORES)[number][]>(STORES, STORES.slice(0, 1)))(
  'start:cluster on %s',
  (on, store, signal) => {
    const test = inTurns(on, [on])

    test.nightly(
      'P2 P3 P4 P16 no job is lost or runs twice, and work resumes after faults',
      async () => {
        const folder = ownTemporaryFolder()
        const { code, output } = await start([...store, ...SMALL_LOAD], folder).ended
        expect(output).toContain('\nAll guarantees held.\n')
        expect(code).toBe(0)
        expect(output).toMatch(/kill -9 of worker \d \(process \d+\), which ran \d+ jobs?\n/)
        expect(output).toMatch(/^enqueued +\d+ acknowledged of \d+ sent$/m)
        expect(output).toMatch(/^done +\d+$/m)
        for (const what of ['dead', 'lost', 'run twice without a crash', 'order broken'])
          expect(output).toMatch(new RegExp(`^${what} +0( |$)`, 'm'))
        expect(output).toMatch(/^recovery after kill -9 +\d+\.\d+ s to /m)
        expect(output).toMatch(/^recovery after the database +\d+\.\d+ s$/m)
        await expectNothingLeft(folder)
      },
      TIMEOUT_MS,
    )

    test(
      `${signal} ends it and leaves nothing behind`,
      async () => {
        const folder = ownTemporaryFolder()
        const { child, ended, waitForOutput } = start([...store, ...SMALL_LOAD], folder)
        await waitForOutput('enqueued')
        child.kill(signal)
        const { code, output } = await ended
        expect(output).toContain(`start:cluster: stopped by ${signal}`)
        expect(code).toBe(130)
        await expectNothingLeft(folder)
      },
      TIMEOUT_MS,
    )

    test.nightly(
      'reports each planted fault with its message',
      async () => {
        const folder = ownTemporaryFolder()
        const lies: Lie[] = ['drop-job', 'forget-run', 'run-twice', 'no-order', 'silent-end']
        const { code, output } = await start([...store, ...SMALL_LOAD], folder, lies).ended
        expect(output).toMatch(/^\d guarantees were violated:$/m)
        expect(code).toBe(1)
        expect(output).toMatch(/^lost: 1 job, acknowledged and not in the store/m)
        expect(output).toMatch(/^lost: 1 job, done according to the store, and never run to the end/m)
        expect(output).toMatch(/^lost +2$/m)
        expect(output).toMatch(/^run twice: 1 job, run again/m)
        expect(output).toMatch(/^order broken: \d+ jobs?, run before an earlier job/m)
        expect(output).toMatch(/^worker 4 exited on its own with 0/m)
        await expectNothingLeft(folder)
      },
      TIMEOUT_MS,
    )
  },
)

describe('its options', () => {
  test('are read, with defaults', () => {
    expect(readOptions([])).toEqual({ store: 'postgres', seconds: 20, rate: 100 })
    expect(readOptions(['--sqlite', '--seconds', '6', '--rate=40'])).toEqual({
      store: 'sqlite',
      seconds: 6,
      rate: 40,
    })
    expect(readOptions(['-h'])).toBeNull()
  })

  test.each([
    [['--seconds', '2'], '--seconds: must be a whole number from 3 to 3600 (got "2")'],
    [['--rate', 'fast'], '--rate: must be a whole number from 1 to 2000 (got "fast")'],
    [['--rate='], '--rate: must be a whole number from 1 to 2000 (got "")'],
    [['--speed', '2'], "Unknown option '--speed'"],
  ])('%j is refused by its name', (args, message) => expect(() => readOptions(args)).toThrow(message))
})

test('a ledger with an incomplete last line is read up to it, and later from there', () => {
  const file = join(ownTemporaryFolder(), 'ledger')
  const reader = ledgerReader(file, 1)
  reader.read()
  const { write, close } = ledgerWriter(file)
  onTestFinished(close)
  write({ what: 'start', id: 'a', token: 1, attempt: 1, n: 0, orderKey: null })
  appendFileSync(file, '{"what":"end","id":"a","tok')
  reader.read()
  expect(reader.open()).toMatchObject([{ id: 'a', token: 1, how: null }])
  appendFileSync(file, 'en":1,"how":"returned","at":5}\n')
  write({ what: 'reported', id: 'a', attempt: 1, how: 'returned' })
  write({ what: 'lost' })
  reader.read()
  expect(reader.open()).toEqual([])
  expect(reader.runs).toMatchObject([
    { how: 'returned', endedAt: 5, reportedAt: expect.any(Number) as number },
  ])
  expect(reader.lostAt).toHaveLength(1)
})

function aSent(id: string, n: number, more: Partial<Sent> = {}): Sent {
  return { n, id, orderKey: null, sentAt: n, answeredAt: n + 0.5, answer: 'acknowledged', ...more }
}

function aRun(id: string, token: number, startedAt: number, more: Partial<Run> = {}): Run {
  const ended = { endedAt: startedAt + 10, how: 'returned', reportedAt: startedAt + 11 } as const
  return { worker: 1, id, n: 0, orderKey: null, token, attempt: 1, startedAt, ...ended, ...more }
}

describe('the judge', () => {
  const interrupted = { endedAt: null, how: null, reportedAt: null }
  const unreported = { reportedAt: null }
  /** Worker 2 died at 100, with one running and one finished job; the database was down from 300 to 400. */
  const facts: Facts = {
    sent: [
      aSent('a', 1),
      aSent('b', 2),
      aSent('c', 3),
      aSent('d', 4, { orderKey: 'x' }),
      aSent('e', 5, { orderKey: 'x' }),
    ],
    stored: new Map(['a', 'b', 'c', 'd', 'e'].map((id, at) => [id, { state: 'done', n: at + 1 }])),
    countedDone: 5,
    runs: [
      aRun('a', 1, 10),
      aRun('b', 2, 95, { worker: 2, ...interrupted }),
      aRun('b', 8, 9_000),
      aRun('c', 3, 80, { worker: 2, ...unreported }),
      aRun('c', 9, 9_001),
      aRun('d', 4, 90, { orderKey: 'x', how: 'failed' }),
      aRun('d', 5, 200, { orderKey: 'x', attempt: 2 }),
      aRun('e', 6, 211, { orderKey: 'x' }),
    ],
    deaths: [{ worker: 2, at: 100 }],
    losses: [],
    stillnesses: [],
    outages: [{ from: 300, to: 400 }],
    broken: [],
  }
  const withRuns = (...runs: Run[]): Partial<Facts> => ({ runs: [...facts.runs, ...runs] })

  test('accepts repeated runs after a crash', () => {
    const { figures, broken } = judge(facts)
    expect(broken).toEqual([])
    expect(figures).toMatchObject({
      done: 5,
      lost: 0,
      runs: 8,
      repeats: { planned: 1, 'process died': 2, 'lease lost': 0, 'no reason': 0 },
      afterDeaths: [8_900],
      afterOutages: [8_611],
    })
  })

  test('accepts repeated runs of leases lost in a database outage, and no others', () => {
    const lost = withRuns(aRun('a', 20, 9_500))
    const runs = (lost.runs ?? []).map((one) => (one.token === 1 ? { ...one, ...unreported } : one))
    const inOutage = { ...facts, runs, losses: [{ worker: 1, at: 350 }] }
    expect(judge(inOutage)).toMatchObject({ broken: [], figures: { repeats: { 'lease lost': 1 } } })
    expect(judge({ ...inOutage, losses: [{ worker: 1, at: 200 }] }).figures.twice).toBe(1)
    expect(judge({ ...inOutage, losses: [{ worker: 3, at: 350 }] }).figures.twice).toBe(1)
  })

  const storedWithout = (id: string): Facts['stored'] =>
    new Map([...facts.stored].filter(([key]) => key !== id))
  const withState = (id: string, state: 'running' | 'dead'): Partial<Facts> => ({
    stored: new Map([...facts.stored, [id, { state, n: 1 }]]),
    countedDone: 4,
  })
  test.each<[string, Partial<Facts>, RegExp]>([
    [
      'a job that is gone',
      { stored: storedWithout('a'), countedDone: 4 },
      /^lost: 1 job, acknowledged and not in/,
    ],
    ['a job that never ran', { runs: facts.runs.slice(1) }, /^lost: 1 job, done according to the store/],
    ['a job that waits', withState('a', 'running'), /^not ended: 1 job, still waiting or running \(a\)/],
    ['a job that is dead', withState('a', 'dead'), /^dead: 1 job, dead or cancelled/],
    ['a job that ran again', withRuns(aRun('a', 20, 9_500)), /^run twice: 1 job, run again .* \(a\)/],
    [
      'a finished job of a dead process',
      withRuns(aRun('b', 20, 9_500)),
      /^run twice: 1 job, run again .* \(b\)/,
    ],
    [
      'a failed attempt made again',
      withRuns(aRun('d', 4.5, 150, { orderKey: 'x', how: 'failed' })),
      /^run twice: .* \(d\)/,
    ],
    [
      'two jobs of one order key at once',
      withRuns(aRun('f', 7, 215, { orderKey: 'x' })),
      /^order broken: 1 job, .* \(f\)/,
    ],
    [
      'a later job of an order key first',
      { runs: facts.runs.map((one) => (one.id === 'e' ? { ...one, startedAt: 150, endedAt: 160 } : one)) },
      /^order broken: 1 job, run before an earlier job of the order queue had ended \(e\)/,
    ],
    [
      'a second job for one call',
      {
        stored: new Map([...facts.stored, ['z', { state: 'done', n: 1 }]]),
        countedDone: 6,
        ...withRuns(aRun('z', 30, 50)),
      },
      /^enqueued twice: 1 job, in the store a second time for one call \(z\)/,
    ],
    [
      'a refused job that exists',
      { sent: facts.sent.map((one) => (one.id === 'a' ? { ...one, id: null, answer: 'refused' } : one)) },
      /^written all the same: 1 job, in the store, although/,
    ],
    [
      'a slow recovery',
      { runs: facts.runs.map((one) => (one.token === 8 ? { ...one, startedAt: 15_101 } : one)) },
      /^recovery: a job of a killed process resumed after 15\.0 s; the limit is 15\.0 s/,
    ],
    [
      'no recovery',
      { runs: facts.runs.map((one) => ({ ...one, reportedAt: null })) },
      /^recovery: work after the outage never resumed/,
    ],
    ['wrong counts', { countedDone: 7 }, /^counts: the store counts 7 done jobs, and has 5/],
    ['anything else', { broken: ['worker 4 exited unexpectedly.'] }, /^worker 4 exited unexpectedly/],
  ])('reports %s', (_, change, sentence) => {
    expect(judge({ ...facts, ...change }).broken).toEqual([expect.stringMatching(sentence)])
  })
})
