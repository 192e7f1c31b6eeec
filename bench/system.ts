// The interface of a queue system in the benchmark: the same methods for Jobmill, its peers and the bare
// drivers. Each file in systems/ and peers/ implements one of them, with all its stores and settings.

import { setTimeout as sleep } from 'node:timers/promises'

export type StoreName = 'postgres' | 'sqlite' | 'redis' | 'restate'
export type Setting = 'best' | 'default'

/** Where a cell works: a fresh database, a fresh folder, an emptied Redis, or the Restate server. */
export interface Place {
  readonly store: StoreName
  /** The URL of the database; on SQLite the path of a file that does not exist yet. */
  readonly url: string
  /** The folder of the cell, removed afterwards. */
  readonly folder: string
}

export interface System {
  readonly name: string
  readonly store: StoreName
  readonly setting: Setting
  /** The settings in words, for the table. */
  readonly settings: string
  readonly version: string
  /** What the system keeps of a finished job, and what an acknowledgement guarantees; for the table. */
  readonly keeps: string
  /** Also creates the schema, which is not measured. Omitted by a system that is measured only with steps. */
  open?(place: Place, how: Opening): Promise<Queue>
  /** As `open`, for jobs with durable steps. Omitted by a system without them. */
  openSteps?(place: Place): Promise<StepRunner>
}

export interface Opening {
  /** Otherwise finished jobs are removed. */
  readonly keep: boolean
  /** Handlers that take some time, and a fixed number of them at a time. Otherwise they return at once. */
  readonly load?: Load | undefined
  /** Jobs of groups. Otherwise none has a group. */
  readonly groups?: Grouping | undefined
}

export interface Grouping {
  /** `limited`: each group runs at most `GROUP_LIMIT` jobs at once. */
  readonly kind: 'fair' | 'limited'
  /** How many groups; the jobs have them in turn. */
  readonly count: number
  /** The jobs up to this number are all of one further group. */
  readonly backlog?: number
}

/** Enough that all groups together occupy every worker. */
export const GROUP_LIMIT = 10

export function groupOf(n: number, { count, backlog = 0 }: Grouping): string {
  return n < backlog ? 'backlog' : `group-${n % count}`
}

export interface Load {
  /** In each process. */
  readonly workers: number
  /** How many processes work. Default: 1. */
  readonly processes?: number
  readonly handlerMs: number
}

export interface Queue {
  /** Resolves when the system has acknowledged the job. Payload: { n, to: 'ada@example.com' }. */
  enqueue(n: number): Promise<void>
  /** The same in a transaction of the application, until its commit. Omitted where no case needs it. */
  enqueueInTransaction?(n: number): Promise<void>
  /** In one call, or with the bulk method of the system. */
  enqueueMany(from: number, count: number): Promise<void>
  /** Starts the workers. They call `ran` inside the handler, once per run. Handlers return { ok: true }. */
  work(ran: (n: number) => void): Promise<void>
  /**
   * Resolves when the outcome of every job is written; called once all jobs have run. A system that does not
   * report this, and whose tables do not show it, omits it. Then only handler calls are measured.
   */
  settled?(): Promise<void>
  stop(): Promise<void>
}

/** Runs jobs with durable steps, in this process. */
export interface StepRunner {
  /**
   * Starts all jobs at once, and resolves when the outcome of each is written. A job awaits `started`, and
   * runs its steps one after the other. Each calls `ran` and returns { ok: true }.
   */
  run(work: StepWork): Promise<void>
  /**
   * Runs a job with this many steps that then waits, and wakes it. Returns the time from the wake-up until
   * the handler, which has passed all recorded steps again, continues after the wait.
   */
  resume?(steps: number): Promise<number>
  stop(): Promise<void>
}

export interface StepWork {
  readonly jobs: number
  /** The steps of each job. */
  readonly steps: number
  readonly started: () => Promise<void>
  /** Both from 0. */
  readonly ran: (job: number, step: number) => void
}

/** The exports of a file in systems/ or peers/. */
export interface SystemModule {
  readonly systems: readonly System[]
}

/** What a handler awaits before it returns. */
export const busy = async (load: Load | undefined): Promise<void> => {
  if (load !== undefined) await sleep(load.handlerMs)
}

/** `--payload` sets it, and the processes of the cells inherit it. */
export const PAYLOAD_VARIABLE = 'JOBMILL_BENCH_PAYLOAD'

interface Payload {
  readonly n: number
  readonly to: string
  readonly text?: string
}

const small = (n: number): Payload => ({ n, to: 'ada@example.com' })
const text = textFor(Number(process.env[PAYLOAD_VARIABLE] ?? 0))

/** About as many bytes of JSON as requested. */
export const payloadOf: (n: number) => Payload =
  text === '' ? small : (n) => ({ n, to: 'ada@example.com', text })

/** No two parts of it are equal, because PostgreSQL compresses large rows. */
function textFor(bytes: number): string {
  const length = Math.max(0, bytes - JSON.stringify({ ...small(10_000), text: '' }).length)
  let seed = 1
  const letters = Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed % 36).toString(36)
  })
  return letters.join('')
}
