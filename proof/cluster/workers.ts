/** The worker processes, seen from the one that starts them: they are started, killed with -9 while they work, and stopped. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { standStill } from '../../test/support/stand-still.ts'
import { nowMs } from './clock.ts'
import { type LedgerReader, ledgerReader } from './ledger.ts'
import type { Lie } from './lies.ts'
import type { Place } from './places.ts'
import type { WorkerMessage, WorkerTask } from './worker.ts'

export interface Worker {
  readonly number: number
  readonly pid: number
  readonly ledger: LedgerReader
  /** When it died: killed, or by itself before it was told to stop. */
  diedAt: number | null
}

export interface Workers {
  readonly all: readonly Worker[]
  /** Resolves when it works. */
  readonly start: (lies?: readonly Lie[]) => Promise<Worker>
  /**
   * Kills the busiest with -9, at a moment when it runs something: for the first while, when it runs several jobs. Null when none ran anything until
   * `signal` fired.
   */
  readonly killBusiest: (signal: AbortSignal) => Promise<Worker | null>
  /** Those that run. */
  readonly alive: () => readonly Worker[]
  /** Lets one stop by itself while it works, and waits until it has. */
  readonly retire: (worker: Worker) => Promise<void>
  /** Has one stand still, and go on. */
  readonly hold: (worker: Worker) => Promise<void>
  readonly goOn: (worker: Worker) => void
  /** Lets all stop by themselves. Returns how often their mills told what, and what was wrong with them, in sentences. */
  readonly stop: () => Promise<{ readonly told: Map<string, number>; readonly broken: readonly string[] }>
  /** Ends all at once; no other can be started. */
  readonly destroy: () => Promise<void>
}

/** How many jobs a worker is to run when it is killed, and for how long that is waited for. */
const SEVERAL = 4
const PATIENT_MS = 500

/** Longer than the grace of a mill. */
const STOP_MS = 40_000

interface Member extends Worker {
  isLeaving: boolean
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
  readonly log: string
  told: Readonly<Record<string, number>>
}

export interface WorkersOptions {
  /** For their ledgers and logs. */
  readonly folder: string
  readonly place: Place
  /** Beside the jobs of the stream they serve a schedule. */
  readonly beats?: boolean
  readonly env?: NodeJS.ProcessEnv
}

export function workers({ folder, place, beats = false, env = {} }: WorkersOptions): Workers {
  const all: Member[] = []
  const broken: string[] = []
  let ending = false
  let destroyed = false

  async function start(lies: readonly Lie[] = []): Promise<Worker> {
    if (destroyed) throw new Error('no worker is started any more')
    const number = all.length + 1
    const file = (suffix: string): string => path.join(folder, `worker-${number}.${suffix}`)
    const member = launch({ place, ledger: file('ledger'), lies, beats }, number, file('log'), env)
    all.push(member)
    member.child.on('exit', (code, signal) => {
      if (ending || signal === 'SIGKILL' || (member.isLeaving && code === 0)) return
      member.diedAt = nowMs()
      broken.push(`worker ${number} ended by itself, with ${String(code ?? signal)}.${tailOf(member.log)}`)
    })
    await Promise.race([
      once(member.child, 'message'),
      member.exited.then(() =>
        Promise.reject(new Error(`worker ${number} did not start.${tailOf(member.log)}`)),
      ),
    ])
    return member
  }

  const alive = (): Member[] => all.filter(({ child }) => !hasExited(child))
  const busiest = (least: number): Member | undefined =>
    alive()
      .map((member) => (member.ledger.read(), member))
      .filter(({ ledger }) => ledger.open().length >= least)
      .toSorted((a, b) => b.ledger.open().length - a.ledger.open().length)[0]

  async function kill(member: Member): Promise<void> {
    // Before the signal: what it did until then may have been done at this moment at the latest.
    member.diedAt = nowMs()
    member.child.kill('SIGKILL')
    await member.exited
    member.ledger.read()
  }

  const memberOf = (worker: Worker): Member => all[worker.number - 1] as Member

  return {
    all,
    alive,
    start,
    async retire(worker) {
      const member = memberOf(worker)
      member.isLeaving = true
      member.child.kill('SIGTERM')
      await member.exited
      member.ledger.read()
    },
    async hold(worker) {
      await standStill(worker.pid, place.store === 'sqlite' ? place.at : null)
    },
    goOn: (worker) => void memberOf(worker).child.kill('SIGCONT'),
    async killBusiest(signal) {
      const patientUntil = nowMs() + PATIENT_MS
      while (!signal.aborted) {
        const member = busiest(nowMs() < patientUntil ? SEVERAL : 1)
        // Held first: what it runs then, it still runs when it is killed.
        if (member !== undefined) {
          await standStill(member.pid, null)
          member.ledger.read()
          if (member.ledger.open().length > 0) {
            await kill(member)
            return member
          }
          member.child.kill('SIGCONT')
        }
        await sleep(5)
      }
      return null
    },
    async stop() {
      ending = true
      const late = new AbortController()
      const stopping = alive()
      for (const { child } of stopping) child.kill('SIGTERM')
      await Promise.race([
        Promise.all(stopping.map(({ exited }) => exited)),
        sleep(STOP_MS, undefined, { signal: late.signal }).catch(() => {}),
      ])
      late.abort()
      for (const { number } of alive())
        broken.push(`worker ${number} did not stop within ${STOP_MS / 1_000} s.`)
      for (const { child, number } of stopping)
        if (child.exitCode !== null && child.exitCode !== 0)
          broken.push(`worker ${number} failed when it was told to stop, with ${child.exitCode}.`)
      for (const { ledger } of all) ledger.read()
      return { told: sums(all.map(({ told }) => told)), broken }
    },
    async destroy() {
      ending = true
      destroyed = true
      for (const { child } of alive()) child.kill('SIGKILL')
      await Promise.all(all.map(({ exited }) => exited))
    },
  }
}

function launch(task: WorkerTask, number: number, log: string, env: NodeJS.ProcessEnv): Member {
  const output = openSync(log, 'a')
  const child = fork(path.join(import.meta.dirname, 'worker.ts'), [JSON.stringify(task)], {
    stdio: ['ignore', output, output, 'ipc'],
    env: { ...process.env, ...env },
  })
  closeSync(output)
  const exited = new Promise((resolve) => {
    child.once('exit', resolve)
    // It could not even be started, or a message to one that is gone.
    child.on('error', resolve)
  })
  const member: Member = {
    number,
    pid: child.pid ?? 0,
    child,
    exited,
    log,
    ledger: ledgerReader(task.ledger, number),
    diedAt: null,
    isLeaving: false,
    told: {},
  }
  child.on('message', (message: WorkerMessage) => {
    if (message !== 'ready') member.told = message.told
  })
  return member
}

function hasExited({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

function tailOf(log: string): string {
  const text = readFileSync(log, 'utf8').trim().slice(-1_000)
  return text === '' ? '' : ` It said:\n${text}`
}

function sums(counts: readonly Readonly<Record<string, number>>[]): Map<string, number> {
  const sum = new Map<string, number>()
  for (const [name, count] of counts.flatMap((one) => Object.entries(one)))
    sum.set(name, (sum.get(name) ?? 0) + count)
  return sum
}
