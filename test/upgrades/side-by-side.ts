/**
 * An upgrade under load: processes of one release work on a database, one of a later release starts and
 * migrates it, and an old one is killed. Then the judge of proof/cluster/ checks the result.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Store } from 'jobmill'
import { nowMs } from '../../proof/cluster/clock.ts'
import { countedDone, everythingIn } from '../../proof/cluster/in-store.ts'
import { judge } from '../../proof/cluster/judge.ts'
import { type LedgerReader, ledgerReader } from '../../proof/cluster/ledger.ts'
import type { Sent } from '../../proof/cluster/stream.ts'
import { withJobmill } from '../support/programs.ts'
import { bundled, type Place, today } from './release.ts'
import type { WorkerMessage, WorkerOrder, WorkerTask } from './worker.ts'

const program = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** The jobs of a process are numbered from the number of the process times this. */
const FIRST_N = 1_000_000

/** How many outcomes each process commits before the upgrade, and again after it. */
const SOME = 20

interface Worker {
  readonly number: number
  readonly child: ChildProcess
  readonly ledger: LedgerReader
  readonly sent: () => Sent[]
  readonly tell: (order: WorkerOrder) => void
  /**
   * Resolves when the process has sent this message that many times in total. Rejects when it ends before
   * that.
   */
  readonly says: (message: WorkerMessage, times?: number) => Promise<void>
  readonly said: (message: WorkerMessage) => number
  readonly ended: Promise<number | null>
}

function startWorker(given: {
  readonly number: number
  readonly release: string | null
  readonly place: Place
  readonly folder: string
}): Worker {
  const { number, release, place, folder } = given
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
  const said = (message: WorkerMessage): number => counts.get(message) ?? 0
  return {
    number,
    child,
    ledger: ledgerReader(ledger, number),
    sent: () => (existsSync(sent) ? linesOf(sent) : []),
    tell: (order) => void child.send(order),
    said,
    ended,
    async says(message, times = 1) {
      const early = ended.then((code) =>
        Promise.reject(
          new Error(`process ${number} ended early, with ${String(code)}: ${errors.slice(0, 2_000)}`),
        ),
      )
      // It may end when no call waits for it any more.
      early.catch(() => {})
      while (said(message) < times) await Promise.race([received.promise, early])
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
  readonly cutOff: number
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
  const [lives, dies, newer] = [start(1, older), start(2, older), start(3, next)]
  for (const worker of [lives, dies]) worker.tell('begin')
  await Promise.all([lives, dies].map(goesOn))
  await newer.says('loaded')
  newer.tell('begin')
  await newer.says('ready')
  await Promise.all([lives, dies, newer].map(goesOn))
  await runsJobsOf(lives, newer)
  await runsJobsOf(newer, lives)
  const diedAt = await killAtWork(dies)

  const { entry, storeAt } = next === null ? await today() : await bundled(next)
  const mill = entry.jobmill({ store: await storeAt(place), log: 'silent' })
  onEnd(async () => void (await mill.stop()))
  const cutOff = dies.ledger.open().map(({ id }) => id)
  await whileHeld(lives, async () => {
    const instance = (await mill.get(cutOff[0] ?? ''))?.instance ?? ''
    await expire(place, instance)
    // A process reaps only after it has been in contact with the database for one lease; an operator need not
    // wait.
    await mill.recover()
    await until(newer, async () => {
      const jobs = await Promise.all(cutOff.map((id) => mill.get(id)))
      return jobs.every((job) => job?.instance !== instance)
    })
  })
  for (const worker of [lives, newer]) worker.tell('enough')
  await Promise.all([lives, newer].map((worker) => worker.says('quiet')))
  await nothingWaits(mill, [lives, newer])
  for (const worker of [lives, newer]) worker.tell('stop')
  const codes = await Promise.all([lives.ended, newer.ended])

  const all = [lives, dies, newer]
  for (const { ledger } of all) ledger.read()
  const { broken } = judge({
    sent: all.flatMap(({ sent }) => sent()),
    stored: await everythingIn(mill),
    countedDone: await countedDone(mill),
    runs: all.flatMap(({ ledger }) => ledger.runs),
    deaths: [{ worker: dies.number, at: diedAt }],
    losses: all.flatMap(({ number: worker, ledger }) => ledger.lostAt.map((at) => ({ worker, at }))),
    stillnesses: [],
    outages: [],
    broken: codes.flatMap((code) => (code === 0 ? [] : [`a process ended with ${String(code)}.`])),
  })
  return { broken, cutOff: cutOff.length }
}

function goesOn(worker: Worker): Promise<void> {
  return worker.says('told', worker.said('told') + SOME)
}

/** Leaves the enqueueing process without workers and waits until this one has run some of its jobs. */
async function runsJobsOf(one: Worker, enqueues: Worker): Promise<void> {
  const isTheirs = (n: number): boolean => Math.floor(n / FIRST_N) === enqueues.number
  await whileHeld(enqueues, () =>
    until(one, () => {
      one.ledger.read()
      return one.ledger.runs.some(({ n, toldAt }) => isTheirs(n) && toldAt !== null)
    }),
  )
}

/** Makes the worker hold its running jobs, at least one, while `act` runs: no other process may take them. */
async function whileHeld(worker: Worker, act: () => Promise<void>): Promise<void> {
  const before = worker.said('holds')
  worker.tell('hold')
  await worker.says('holds', before + 1)
  await act()
  worker.tell('let go')
}

/** Checks whenever the worker has committed an outcome. */
async function until(worker: Worker, isIt: () => boolean | Promise<boolean>): Promise<void> {
  do await worker.says('told', worker.said('told') + 1)
  while (!(await isIt()))
}

/** Kills the process while it runs a job. Returns the time. */
async function killAtWork({ ledger, child, ended, tell, says }: Worker): Promise<number> {
  tell('hold')
  await says('holds')
  child.kill('SIGKILL')
  await ended
  ledger.read()
  // Take the time afterwards: the process starts further jobs until the signal reaches it.
  return nowMs()
}

/** Checks whenever one of them has committed an outcome. */
async function nothingWaits(
  mill: { readonly counts: Store['counts'] },
  workers: readonly Worker[],
): Promise<void> {
  for (;;) {
    const before = workers.map(({ said }) => said('told'))
    const counts = await mill.counts()
    if (counts.every(({ scheduled, ready, running }) => scheduled + ready + running === 0)) return
    await Promise.race(workers.map(({ says }, at) => says('told', (before[at] ?? 0) + 1)))
  }
}
