/**
 * An upgrade under load: processes of one release work on a database, one of a later release starts and
 * migrates it, and an old one is killed. Then the judge of proof/cluster/ checks the result.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FullStore } from 'jobmill'
import { nowMs } from '../../../proof/cluster/clock.ts'
import { countedDone, everythingIn } from '../../../proof/cluster/verdict/in-store.ts'
import { judge } from '../../../proof/cluster/verdict/judge.ts'
import { type LedgerReader, ledgerReader } from '../../../proof/cluster/ledger.ts'
import type { Sent } from '../../../proof/cluster/stream.ts'
import { inFull } from '../../support/suite/in-full.ts'
import { withJobmill } from '../../support/programs/programs.ts'
import { loadBundle, type Place, loadCurrent } from '../releases/release.ts'
import type { WorkerMessage, WorkerOrder, WorkerTask } from './worker.ts'

const program = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** The jobs of a process are numbered from the number of the process times this. */
const FIRST_N = 1_000_000

/** How many outcomes each process commits before the upgrade, and again after it. */
const SOME = inFull(20, 10)

interface Worker {
  readonly number: number
  readonly child: ChildProcess
  readonly ledger: LedgerReader
  readonly sent: () => Sent[]
  readonly send: (order: WorkerOrder) => void
  /**
   * Resolves when the process has sent this message that many times in total. Rejects when it ends before
   * that.
   */
  readonly waitFor: (message: WorkerMessage, times?: number) => Promise<void>
  readonly countOf: (message: WorkerMessage) => number
  readonly ended: Promise<number | null>
}

function startWorker(options: {
  readonly number: number
  readonly release: string | null
  readonly place: Place
  readonly folder: string
}): Worker {
  const { number, release, place, folder } = options
  const ledger = join(folder, `${number}.ledger`)
  const sent = join(folder, `${number}.sent`)
  const task: WorkerTask = { release, place, ledger, sent, firstN: number * 1_000_000 }
  const node = withJobmill()
  const child = fork(program, [JSON.stringify(task)], {
    execArgv: [...node.args],
    env: { ...process.env, ...node.env },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let errors = ''
  child.stderr?.on('data', (data) => (errors += String(data)))
  const counts = new Map<WorkerMessage, number>()
  // One listener for all waiting calls.
  let received = Promise.withResolvers<void>()
  child.on('message', (message: WorkerMessage) => {
    counts.set(message, (counts.get(message) ?? 0) + 1)
    received.resolve()
    received = Promise.withResolvers()
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const countOf = (message: WorkerMessage): number => counts.get(message) ?? 0
  return {
    number,
    child,
    ledger: ledgerReader(ledger, number),
    sent: () => (existsSync(sent) ? linesOf(sent) : []),
    send: (order) => void child.send(order),
    countOf,
    ended,
    async waitFor(message, times = 1) {
      const early = ended.then((code) =>
        Promise.reject(
          new Error(`process ${number} ended early, with ${String(code)}: ${errors.slice(0, 2_000)}`),
        ),
      )
      // It may end when no call waits for it any more.
      early.catch(() => {})
      while (countOf(message) < times) await Promise.race([received.promise, early])
    },
  }
}

/** Ignores the incomplete last line of a killed process. */
function linesOf(file: string): Sent[] {
  const text = readFileSync(file, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Sent]))
}

interface Upgrade {
  /** Descriptions of broken guarantees; empty when there are none. */
  readonly broken: readonly string[]
  /** Jobs that were running in the killed process. */
  readonly interrupted: number
}

interface Scene {
  /** The folders of their bundles; null for the current release. */
  readonly older: string | null
  readonly newer: string | null
  readonly place: Place
  readonly folder: string
  /** Expires the lease of an instance at once, so that no test waits for it. */
  readonly expire: (place: Place, instance: string) => Promise<void>
  readonly onEnd: (end: () => Promise<void>) => void
}

export async function upgradeUnderLoad({
  older,
  newer: next,
  place,
  folder,
  expire,
  onEnd,
}: Scene): Promise<Upgrade> {
  const start = (number: number, of: string | null): Worker => {
    const worker = startWorker({ number, release: of, place, folder })
    onEnd(async () => {
      worker.child.kill('SIGKILL')
      await worker.ended
    })
    return worker
  }
  const [survivor, victim, newer] = [start(1, older), start(2, older), start(3, next)]
  for (const worker of [survivor, victim]) worker.send('begin')
  await Promise.all([survivor, victim].map(waitForProgress))
  await newer.waitFor('loaded')
  newer.send('begin')
  await newer.waitFor('ready')
  await Promise.all([survivor, victim, newer].map(waitForProgress))
  await waitForRunsOf(survivor, newer)
  await waitForRunsOf(newer, survivor)

  const { entry, storeAt } = next === null ? await loadCurrent() : await loadBundle(next)
  const mill = entry.jobmill({ store: await storeAt(place), log: 'silent' })
  onEnd(async () => void (await mill.stop()))
  const { instance, diedAt } = await killDuringJob(victim, mill)
  const interrupted = victim.ledger.open().map(({ id }) => id)
  await withJobsHeld(survivor, async () => {
    await expire(place, instance)
    // A process reaps only after it has been in contact with the database for one lease; an operator need not
    // wait.
    await mill.recover()
    await waitUntil(newer, async () => {
      const jobs = await Promise.all(interrupted.map((id) => mill.get(id)))
      return jobs.every((job) => job?.instance !== instance)
    })
  })
  for (const worker of [survivor, newer]) worker.send('enough')
  await Promise.all([survivor, newer].map((worker) => worker.waitFor('quiet')))
  await waitUntilIdle(mill, [survivor, newer])
  for (const worker of [survivor, newer]) worker.send('stop')
  const codes = await Promise.all([survivor.ended, newer.ended])

  const all = [survivor, victim, newer]
  for (const { ledger } of all) ledger.read()
  const facts = {
    sent: all.flatMap(({ sent }) => sent()),
    stored: await everythingIn(mill),
    countedDone: await countedDone(mill),
    runs: all.flatMap(({ ledger }) => ledger.runs),
    deaths: [{ worker: victim.number, at: diedAt }],
    losses: all.flatMap(({ number: worker, ledger }) => ledger.lostAt.map((at) => ({ worker, at }))),
    stillnesses: [],
    outages: [],
    broken: codes.flatMap((code) => (code === 0 ? [] : [`a process ended with ${String(code)}.`])),
  }
  // The lease was ended by hand, so the time until a job runs again depends only on the machine.
  const { broken } = judge(facts, { recoveryLimitMs: Number.POSITIVE_INFINITY })
  return { broken, interrupted: interrupted.length }
}

function waitForProgress(worker: Worker): Promise<void> {
  return worker.waitFor('outcome', worker.countOf('outcome') + SOME)
}

/** Leaves the enqueuing process without workers and waits until this one has run some of its jobs. */
async function waitForRunsOf(one: Worker, enqueues: Worker): Promise<void> {
  const isTheirs = (n: number): boolean => Math.floor(n / FIRST_N) === enqueues.number
  await withJobsHeld(enqueues, () =>
    waitUntil(one, () => {
      one.ledger.read()
      return one.ledger.runs.some(({ n, reportedAt }) => isTheirs(n) && reportedAt !== null)
    }),
  )
}

/** Makes the worker hold its running jobs, at least one, while `act` runs: no other process may take them. */
async function withJobsHeld(worker: Worker, act: () => Promise<void>): Promise<void> {
  const before = worker.countOf('holds')
  worker.send('hold')
  await worker.waitFor('holds', before + 1)
  await act()
  worker.send('release')
}

/** Checks whenever the worker has committed an outcome. */
async function waitUntil(worker: Worker, isMet: () => boolean | Promise<boolean>): Promise<void> {
  do await worker.waitFor('outcome', worker.countOf('outcome') + 1)
  while (!(await isMet()))
}

/**
 * Kills the process while it runs a job. Returns its instance, which is read while the process keeps the job,
 * and the time.
 */
async function killDuringJob(
  { ledger, child, ended, send, waitFor }: Worker,
  mill: { readonly get: (id: string) => Promise<{ readonly instance: string | null } | null> },
): Promise<{ readonly instance: string; readonly diedAt: number }> {
  send('hold')
  await waitFor('holds')
  ledger.read()
  const running = await Promise.all(ledger.open().map(({ id }) => mill.get(id)))
  const instance = running.find((job) => job !== null && job.instance !== null)?.instance ?? ''
  child.kill('SIGKILL')
  await ended
  ledger.read()
  // Take the time afterwards: the process starts further jobs until the signal reaches it.
  return { instance, diedAt: nowMs() }
}

/** Checks whenever one of them has committed an outcome. */
async function waitUntilIdle(
  mill: { readonly counts: FullStore['counts'] },
  workers: readonly Worker[],
): Promise<void> {
  for (;;) {
    const before = workers.map(({ countOf }) => countOf('outcome'))
    const counts = await mill.counts()
    if (counts.every(({ scheduled, ready, running }) => scheduled + ready + running === 0)) return
    await Promise.race(workers.map(({ waitFor }, at) => waitFor('outcome', (before[at] ?? 0) + 1)))
  }
}
