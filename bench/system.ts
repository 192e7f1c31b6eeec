// What a queue system looks like to the benchmark: the same few verbs for Jobmill, for its peers, and for the bare
// drivers. Each file in systems/ and peers/ holds one of them, in all its stores and settings.

export type StoreName = 'postgres' | 'sqlite' | 'redis'
export type Setting = 'best' | 'default'

/** Where a cell may work: a fresh database, a fresh folder, or a Redis that was emptied. */
export interface Place {
  readonly store: StoreName
  /** The address of the database; on SQLite the path of a file that is not there yet. */
  readonly url: string
  /** A folder of the cell's own, removed afterwards. */
  readonly folder: string
}

export interface System {
  readonly name: string
  readonly store: StoreName
  readonly setting: Setting
  /** The settings in words, for the table. */
  readonly settings: string
  readonly version: string
  /** What it keeps of a job after success, and what it promises at an acknowledgement; for the table. */
  readonly keeps: string
  /** Makes the schema as well; that is not measured. Without `keep` nothing is to stay of a job that succeeded. */
  open(place: Place, how: { readonly keep: boolean }): Promise<Queue>
}

export interface Queue {
  /** Resolves when the system says that the job is safe. Payload: { n, to: 'ada@example.com' }. */
  enqueue(n: number): Promise<void>
  /** In one call, or the system's own way for many. */
  enqueueMany(from: number, count: number): Promise<void>
  /** Starts its workers; `ran` is called inside the handler, once for each run. Handlers return { ok: true }. */
  work(ran: (n: number) => void): Promise<void>
  /**
   * Resolves when the outcome of every job that has run is written; asked once all of them have run. A system that does not
   * tell, and whose tables do not either, leaves it out: then only the calls of the handler are seen.
   */
  settled?(): Promise<void>
  stop(): Promise<void>
}

/** What a file in systems/ or peers/ exports. */
export interface SystemModule {
  readonly systems: readonly System[]
}

export const payloadOf = (n: number): { readonly n: number; readonly to: string } => ({
  n,
  to: 'ada@example.com',
})
