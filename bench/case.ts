// The interface of a benchmark case. A case gets a cell (one system, one fresh place, one process) and
// returns figures. plan.ts decides which cases run with which systems, how often and how large.
import type pg from 'pg'
import type { Load, Opening, Place, Queue, StepRunner, System } from './system.ts'

/** One number measured in one cell. The report takes the median of all rounds. */
export interface Figure {
  /** The case's name in the tables: d, d-cpu, f-same-p95 … */
  readonly case: string
  readonly unit: string
  readonly value: number
}

export interface Case {
  /** The names under which plan.ts asks for this case; `cell.case` is one of them. */
  readonly names: readonly string[]
  /** Throws when a job was lost or ran twice: a cell with wrong delivery has no figures. */
  run(cell: Cell): Promise<readonly Figure[]>
  /**
   * True when `run` handles `cell.warmUp` on its own. Otherwise the case first runs with that many jobs and
   * the result is discarded.
   */
  readonly warmsUp?: boolean
}

/** A server that main.ts started. */
export interface ServerInfo {
  readonly url: string
  /** The root of the server's process tree. */
  readonly pid: number
  /** The path of the server's log file. */
  readonly log: string
}

export interface Cell {
  readonly case: string
  readonly system: System
  readonly place: Place
  /** Starts at 0. */
  readonly round: number
  /** How many jobs the case runs. */
  readonly jobs: number
  /**
   * How many jobs to run before measuring, or for how long: a worker lives for days, and its first second is
   * slower than the rest.
   */
  readonly warmUp: number
  readonly warmUpSeconds: number
  /** How long a case runs that is measured by time (k, l, steps). */
  readonly seconds: number
  /** The server of this place; undefined on SQLite. */
  readonly server: ServerInfo | undefined
  /** Opens the system at this place; the cell stops it at its end. `keep` defaults to true. */
  open(how?: Opening): Promise<Queue>
  /** As `open`, for jobs with durable steps. */
  openSteps(): Promise<StepRunner>
  /** Opens another connection to the cell's PostgreSQL database; the cell closes it at its end. */
  admin(): Promise<pg.Client>
  /** Starts another process with the same system at the same place; the cell stops it at its end. */
  startWorker(load?: Load): Promise<WorkerProcess>
  /** Adds a remark that readers of the figures need. */
  note(text: string): void
}

/**
 * A child process with workers; see worker.ts. All instants come from `monotonicMs()`, which is the same in
 * all processes of a machine.
 */
export interface WorkerProcess {
  readonly pid: number
  /** Starts the workers; resolves with the instant before they started. */
  work(): Promise<number>
  /** How many jobs its handlers have run so far. */
  count(): Promise<number>
  /**
   * Waits until all outcomes are written. Returns the jobs that ran here and their start times, in the same
   * order.
   */
  settle(): Promise<WorkerResult>
  /** Ends the process. The cell does so at its end, at the latest. */
  stop(): Promise<void>
}

export interface WorkerResult {
  readonly ran: readonly number[]
  readonly at: readonly number[]
  /** The instant at which the last outcome was written. */
  readonly settledAt: number
  /** CPU time of the process since `work()`, in µs. */
  readonly cpu: number
}
