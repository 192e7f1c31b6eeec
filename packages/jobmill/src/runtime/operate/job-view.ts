/** Jobs as `get` and `history` return them: JSON parsed, logs split into lines. */
import { withoutEntries } from '../../job/payload/indexed.ts'
import type { AttemptRecord, JobRecord } from '../../store/types/job-record.ts'
import { type LogLine, readLog } from '../../work/log-buffer.ts'

export interface JobView extends Omit<JobRecord, 'payload' | 'metadata' | 'result' | 'progress' | 'log'> {
  readonly payload: unknown
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** Undefined unless the job is done and returned a value. */
  readonly result: unknown
  /** Undefined unless the job is running and has reported progress. */
  readonly progress: unknown
  /** The log of the running attempt. */
  readonly log: readonly LogLine[]
}

export interface AttemptView extends Omit<AttemptRecord, 'log'> {
  readonly log: readonly LogLine[]
}

export function jobView(record: JobRecord): JobView {
  return {
    ...record,
    tags: withoutEntries(record.tags),
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
