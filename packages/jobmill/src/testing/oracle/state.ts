/** All that the oracle knows, as plain data: no indexes, nothing derived, nothing kept twice. */
import type { QueueSettings } from '../../job/queue-settings.ts'
import type { JobState } from '../../job/state.ts'
import type { NewJob } from '../../job/new-job.ts'
import type { NewInstance } from '../../store/instance.ts'
import type { AttemptRecord } from '../../store/job-record.ts'

export interface OracleState {
  readonly jobs: Map<string, OracleJob>
  /** By dedupe key. Apart from the jobs: a hold outlives the job that is deleted. */
  readonly holds: Map<string, Hold>
  /** Jobs that wait for the turn of their order key, in the order of joining, all keys together. */
  line: string[]
  /** The job that has the turn, by queue and order key. */
  readonly turns: Map<string, string>
  readonly queues: Map<string, OracleQueue>
  readonly instances: Map<string, OracleInstance>
  lastSeq: number
  lastToken: number
  settingsVersion: number
}

export interface OracleJob extends Omit<NewJob, 'payload' | 'dueAt' | 'delayMs'> {
  readonly enqueuedAt: number
  payload: string
  state: JobState
  attempt: number
  crashes: number
  /** Means something while it is scheduled. */
  dueAt: number
  /** These two mean something while it is ready or running. */
  seq: number
  readyAt: number
  /** Null unless it is running. */
  run: Run | null
  result: string | null
  endedAt: number | null
  attempts: OracleAttempt[]
}

export interface Run {
  readonly token: number
  readonly instance: string
  readonly startedAt: number
  cancelReason: string | null
  progress: string | null
  log: string | null
}

export interface OracleAttempt extends AttemptRecord {
  /** Where a finish sent the job, for when it is sent again. Null when no finish wrote this: then it stays stale. */
  readonly wentTo: JobState | null
}

export interface Hold {
  readonly holder: string
  /** Null while the holder has not ended. */
  readonly until: number | null
}

export interface OracleQueue {
  settings: QueueSettings
  coolUntil: number
  throttles: number
}

export interface OracleInstance extends Omit<NewInstance, 'leaseMs'> {
  readonly startedAt: number
  renewedAt: number
  expiresAt: number
  ended: 'lost' | 'stopped' | null
  endedAt: number | null
}

export function emptyState(): OracleState {
  return {
    jobs: new Map(),
    holds: new Map(),
    line: [],
    turns: new Map(),
    queues: new Map(),
    instances: new Map(),
    lastSeq: 0,
    lastToken: 0,
    settingsVersion: 1,
  }
}
