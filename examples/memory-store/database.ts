// The tables of the store: plain data, so that a rehearsal can work on a copy.
import {
  type AttemptRecord,
  DEFAULT_QUEUE_SETTINGS,
  type DutyRecord,
  type InstanceRecord,
  type JobState,
  type NewJob,
  type QueueSettings,
  type QueueSources,
  type Slot,
  UNDECLARED,
} from 'jobmill/store'

export interface Database {
  readonly jobs: Map<string, Job>
  /** By dedupe key. Separate from the jobs, because a hold outlives the deletion of its job. */
  readonly holds: Map<string, { readonly holder: string; readonly until: number | null }>
  /** The id of the job that has the order lock, by queue and order key. */
  readonly locks: Map<string, string>
  readonly queues: Map<string, Queue>
  readonly instances: Map<string, Instance>
  /** The versions of instances that retention deleted, by instance. */
  readonly pastInstances: Map<string, PastInstance>
  readonly duties: Map<string, DutyRecord>
  slots: readonly Slot[]
  lastSeq: number
  lastToken: number
  settingsVersion: number
  membersVersion: number
}

export interface Job extends Omit<NewJob, 'payload' | 'dueAt' | 'delayMs' | 'first'> {
  payload: string
  state: JobState
  enqueuedAt: number
  dueAt: number
  /** Its place in the order queue, or null while it is not in it. */
  place: number | null
  seq: number
  readyAt: number
  attempt: number
  crashes: number
  run: Run | null
  result: string | null
  endedAt: number | null
  attempts: readonly Attempt[]
}

export interface Run {
  readonly token: number
  readonly instance: string
  readonly startedAt: number
  cancelReason: string | null
  progress: string | null
  log: string | null
}

export interface Attempt extends Omit<AttemptRecord, 'version'> {
  /** The state after the finish that recorded this attempt. Null if something else ended the attempt. */
  readonly wentTo: JobState | null
}

export interface Queue {
  settings: QueueSettings
  sources: QueueSources
  coolUntil: number
  throttles: number
}

type Changing = 'renewedAt' | 'expiresAt' | 'endedAt' | 'requested' | 'requestedBy' | 'requestedAt'

export interface Instance extends Omit<InstanceRecord, 'state' | Changing> {
  ended: 'lost' | 'stopped' | null
  renewedAt: number
  expiresAt: number
  endedAt: number | null
  requested: InstanceRecord['requested']
  requestedBy: string | null
  requestedAt: number | null
  /** The jobs that `reap` took from it: their crashes are reverted if it registers again. */
  lost: readonly { readonly id: string; readonly token: number }[]
}

interface PastInstance {
  readonly version: string
  readonly startedAt: number
  readonly endedAt: number
}

export function memoryDatabase(): Database {
  return {
    jobs: new Map(),
    holds: new Map(),
    locks: new Map(),
    queues: new Map(),
    instances: new Map(),
    pastInstances: new Map(),
    duties: new Map(),
    slots: [],
    lastSeq: 0,
    lastToken: 0,
    settingsVersion: 1,
    membersVersion: 1,
  }
}

/** The queue of this name. Creates it with the default settings. */
export function ensureQueue(db: Database, name: string): Queue {
  const queue = db.queues.get(name) ?? {
    settings: { ...DEFAULT_QUEUE_SETTINGS },
    sources: UNDECLARED,
    coolUntil: 0,
    throttles: 0,
  }
  db.queues.set(name, queue)
  return queue
}

/** The version of an instance, even of one that retention deleted. */
export function versionOf(db: Database, instance: string | null | undefined): string | null {
  const id = instance ?? ''
  return db.instances.get(id)?.version ?? db.pastInstances.get(id)?.version ?? null
}

export const stateOf = (now: number, { ended, expiresAt }: Instance): InstanceRecord['state'] =>
  ended ?? (expiresAt <= now ? 'expired' : 'alive')

export function isAlive(db: Database, now: number, id: string): boolean {
  const instance = db.instances.get(id)
  return instance !== undefined && stateOf(now, instance) === 'alive'
}

/** Whether the instance may get leases: it is alive, and no operator asked it to be quiet or to stop. */
export function isClaiming(db: Database, now: number, id: string): boolean {
  return isAlive(db, now, id) && db.instances.get(id)?.requested === null
}

export function runsOf(db: Database, instance: string): { readonly job: Job; readonly run: Run }[] {
  return [...db.jobs.values()].flatMap((job) =>
    job.run?.instance === instance ? [{ job, run: job.run }] : [],
  )
}

export const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

export const byName = <T>(named: ReadonlyMap<string, T>): [string, T][] =>
  [...named].toSorted(([a], [b]) => (a < b ? -1 : 1))
