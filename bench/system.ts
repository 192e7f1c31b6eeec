// The interface of a queue system in the benchmark: the same methods for Jobmill, its peers and the bare
// drivers. Each file in systems/ and peers/ implements one of them, with all its stores and settings.

export type StoreName = 'postgres' | 'sqlite' | 'redis'
export type Setting = 'best' | 'default'

/** Where a cell works: a fresh database, a fresh folder, or an emptied Redis. */
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
  /** Also creates the schema, which is not measured. Without `keep`, finished jobs are removed. */
  open(place: Place, how: { readonly keep: boolean }): Promise<Queue>
}

export interface Queue {
  /** Resolves when the system has acknowledged the job. Payload: { n, to: 'ada@example.com' }. */
  enqueue(n: number): Promise<void>
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

/** The exports of a file in systems/ or peers/. */
export interface SystemModule {
  readonly systems: readonly System[]
}

export const payloadOf = (n: number): { readonly n: number; readonly to: string } => ({
  n,
  to: 'ada@example.com',
})
