/** Manages the worker processes: starts them, kills them with -9 while they work, and stops them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { standStill } from '../../test/support/programs/stand-still.ts'
import { nowMs } from './clock.ts'
import { type LedgerReader, ledgerReader } from './ledger.ts'
import type { Lie } from './lies.ts'
import type { Place } from './places.ts'
import type { WorkerMessage, WorkerTask } from './worker.ts'

export interface Worker {
  readonly number: number
  readonly pid: number
  readonly ledger: LedgerReader
  /** When it died: killed, or on its own before it was stopped. */
  diedAt: number | null
}

export interface Workers {
  readonly all: readonly Worker[]
  /** Resolves when the worker is ready. */
  readonly start: (lies?: readonly Lie[]) => Promise<Worker>
  /**
   * Kills the busiest worker with -9 while it runs a job, preferably several. Null if none ran a job before
   * `signal` fired.
   */
  readonly killBusiest: (signal: AbortSignal) => Promise<Worker | null>
  /** The running workers. */
  readonly alive: () => readonly Worker[]
  /** Stops a worker gracefully while it works, and waits for its exit. */
  readonly retire: (worker: Worker) => Promise<void>
  /** Freezes a worker; `resume` continues it. */
  readonly hold: (worker: Worker) => Promise<void>
  readonly resume: (worker: Worker) => void
  /**
   * Stops all workers gracefully. Returns the counts of their lifecycle events, and problems in sentences.
   */
  readonly stop: () => Promise<{ readonly events: Map<string, number>; readonly broken: readonly string[] }>
  /** Kills all workers; none can be started afterwards. */
  readonly destroy: () => Promise<void>
}

/** How many jobs the killed worker should run, and how long to wait for that. */
const SEVERAL = 4
const PATIENT_MS = 500

/** Longer than the grace period of a mill. */
const STOP_MS = 40_000

interface Member extends Worker {
  isLeaving: boolean
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
  readonly log: string
  events: Readonly<Record<string, number>>
}

export interface WorkersOptions {
  /** For ledgers and logs. */
  readonly folder: string
  readonly place: Place
  /** Also run a schedule, in addition to the jobs of the stream. */
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
      broken.push(`worker ${number} exited on its own with ${String(code ?? signal)}.${tailOf(member.log)}`)
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
    // Set before the signal: its last action happened at this time at the latest.
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
    resume: (worker) => void memberOf(worker).child.kill('SIGCONT'),
    async killBusiest(signal) {
      const patientUntil = nowMs() + PATIENT_MS
      while (!signal.aborted) {
        const member = busiest(nowMs() < patientUntil ? SEVERAL : 1)
        // Freeze it first: the jobs that it runs now are still running when it is killed.
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
          broken.push(`worker ${number} failed to stop, exit code ${child.exitCode}.`)
      for (const { ledger } of all) ledger.read()
      return { events: sums(all.map(({ events }) => events)), broken }
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
    // The process could not be started, or a message was sent to one that is gone.
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
    events: {},
  }
  child.on('message', (message: WorkerMessage) => {
    if (message !== 'ready') member.events = message.events
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
