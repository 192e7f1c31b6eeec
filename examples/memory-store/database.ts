// The tables of the store: plain data, so that a rehearsal can work on a copy.
import {
  type DutyRecord,
  type InstanceRow,
  type JobRow,
  newQueueRow,
  type QueueRow,
  type RunRow,
  type Slot,
} from 'jobmill/store'

export interface Database {
  /** The time of the current call. */
  now: number
  readonly jobs: Map<string, Job>
  /** By dedupe key. Separate from the jobs, because a hold outlives the deletion of its job. */
  readonly holds: Map<string, Hold>
  /** The id of the job that has the order lock, by queue and order key. */
  readonly locks: Map<string, string>
  readonly queues: Map<string, QueueRow>
  readonly instances: Map<string, Instance>
  readonly duties: Map<string, DutyRecord>
  slots: readonly Slot[]
  lastSeq: number
  lastToken: number
  settingsVersion: number
  membersVersion: number
}

export interface Hold {
  readonly holder: string
  /** Null while it lasts until the holder ends. */
  readonly until: number | null
}

export interface Job extends JobRow {
  /** Its place in the order queue, or null while it is not in it. */
  place: number | null
}

export type Instance = InstanceRow & {
  /** The jobs that `reap` took from it: their crashes are reverted if it registers again. */
  lost: readonly { readonly id: string; readonly token: number }[]
}

export function memoryDatabase(): Database {
  return {
    now: 0,
    jobs: new Map(),
    holds: new Map(),
    locks: new Map(),
    queues: new Map(),
    instances: new Map(),
    duties: new Map(),
    slots: [],
    lastSeq: 0,
    lastToken: 0,
    settingsVersion: 1,
    membersVersion: 1,
  }
}

/** The queue of this name. Creates it with the default settings. */
export function ensureQueue(db: Database, name: string): QueueRow {
  const queue = db.queues.get(name) ?? newQueueRow()
  db.queues.set(name, queue)
  return queue
}

export function runsOf(db: Database, instance: string): { readonly job: Job; readonly run: RunRow }[] {
  return [...db.jobs.values()].flatMap((job) =>
    job.run?.instance === instance ? [{ job, run: job.run }] : [],
  )
}

export const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

export const byName = <T>(named: ReadonlyMap<string, T>): [string, T][] =>
  [...named].toSorted(([a], [b]) => (a < b ? -1 : 1))
