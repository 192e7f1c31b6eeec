/** Jobs as `get` and `history` tell them: JSON as values, logs as lines. */
import type { AttemptRecord, JobRecord } from '../store/job-record.ts'
import { type LogLine, readLog } from '../work/log-buffer.ts'

export interface JobView extends Omit<JobRecord, 'payload' | 'metadata' | 'result' | 'progress' | 'log'> {
  /** What counts when the job itself has no timeout; null when its kind has none, or this process does not have the kind. */
  readonly kindTimeoutMs: number | null
  readonly payload: unknown
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** Undefined unless it is done and returned something. */
  readonly result: unknown
  /** Undefined unless it runs and noted any. */
  readonly progress: unknown
  /** Of the running attempt. */
  readonly log: readonly LogLine[]
}

export interface AttemptView extends Omit<AttemptRecord, 'log'> {
  readonly log: readonly LogLine[]
}

export function jobView(record: JobRecord, kindTimeoutMs: number | null = null): JobView {
  return {
    ...record,
    kindTimeoutMs,
    payload: JSON.parse(record.payload) as unknown,
    metadata: record.metadata === null ? null : (JSON.parse(record.metadata) as Record<string, unknown>),
    result: parsed(record.result),
    progress: parsed(record.progress),
    log: readLog(record.log),
  }
}

export function attemptView(record: AttemptRecord): AttemptView {
  return { ...record, log: readLog(record.log) }
}

function parsed(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text)
}
