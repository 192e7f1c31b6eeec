// What a case of the benchmark looks like: it gets a cell (one system in one fresh place, in a process of its own) and
// answers with figures. Which cases meet which systems, how often and how big, is plan.ts.
import type pg from 'pg'
import type { Place, Queue, System } from './system.ts'

/** One thing measured in one cell. The report makes medians of these over the rounds. */
export interface Figure {
  /** The case's name in the tables: d, d-cpu, f-same-p95 … */
  readonly case: string
  readonly unit: string
  readonly value: number
}

export interface Case {
  /** What plan.ts asks it for; `cell.case` is one of these. */
  readonly names: readonly string[]
  /** Throws when a job was lost or doubled: a cell that delivers wrongly has no figures. */
  run(cell: Cell): Promise<readonly Figure[]>
  /** Whether `run` sees to `cell.warmUp` by itself. Otherwise the case is run with so many jobs before, and what that measures is thrown away. */
  readonly warmsUp?: boolean
}

/** A server that main.ts started, as its cells see it. */
export interface ServerInfo {
  readonly url: string
  /** The process under which all of its processes are. */
  readonly pid: number
  /** Where it logs to. */
  readonly log: string
}

export interface Cell {
  readonly case: string
  readonly system: System
  readonly place: Place
  /** From 0. */
  readonly round: number
  /** How many jobs the case is about. */
  readonly jobs: number
  /**
   * What it does before, unmeasured: a worker lives for days, and its first second is slower than the rest. So many jobs, or as many as it
   * does in this time.
   */
  readonly warmUp: number
  readonly warmUpSeconds: number
  /** How long a case goes on that is measured by the clock (k, l). */
  readonly seconds: number
  /** The server of the place; none on SQLite. */
  readonly server: ServerInfo | undefined
  /** Opens the system at the place; stopped when the cell ends. `keep` is true unless told. */
  open(how?: { readonly keep: boolean }): Promise<Queue>
  /** Another connection to the cell's PostgreSQL database; ended with the cell. */
  admin(): Promise<pg.Client>
  /** Another process that has opened the same system at the same place; ended with the cell. */
  startWorker(): Promise<WorkerProcess>
  /** Something a reader of the figures has to know. */
  note(text: string): void
}

/** A child process with workers; see worker.ts. All instants are of `monotonicMs()`, which all processes of a machine share. */
export interface WorkerProcess {
  readonly pid: number
  /** Has its workers started; resolves with the instant before they were. */
  work(): Promise<number>
  /** How many jobs its handlers have run so far. */
  count(): Promise<number>
  /** After all outcomes are written: what ran here, and when each of them began, in the same order. */
  settle(): Promise<WorkerResult>
}

export interface WorkerResult {
  readonly ran: readonly number[]
  readonly at: readonly number[]
  /** When the last outcome was written. */
  readonly settledAt: number
  /** What the process used since `work()`, in µs. */
  readonly cpu: number
}
