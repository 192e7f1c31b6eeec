/** Formats jobs as rows of a table. */
import type { JobState } from '../../job/state.ts'
import type { ListedJob } from '../../runtime/operate/list-jobs.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import type { Cell } from '../output/table.ts'
import type { Style } from '../output/terminal.ts'
import { fromNow, lasting } from '../output/wording.ts'

export const JOB_HEADS = ['id', 'kind', 'queue', 'state', 'attempt', 'enqueued', 'when', 'error']

const MOST_ERROR = 60

export const STATE_STYLE: Readonly<Record<JobState, Style>> = {
  scheduled: 'blue',
  ready: 'cyan',
  running: 'yellow',
  done: 'green',
  dead: 'red',
  cancelled: 'gray',
}

type Row = JobSummary & Partial<Pick<ListedJob, 'error'>>

export function jobRow(job: Row, now: number): Cell[] {
  const { id, kind, queue, state, attempt, maxAttempts } = job
  const enqueued = fromNow(job.enqueuedAt, now)
  const painted = { text: state, style: STATE_STYLE[state] }
  return [id, kind, queue, painted, `${attempt}/${maxAttempts}`, enqueued, whenOf(job, now), errorOf(job)]
}

/** The first line of the error; `jobs show` prints the rest. */
function errorOf({ error }: Row): string {
  const line = safeLine((error ?? '').split('\n', 1)[0] ?? '')
  return line.length > MOST_ERROR ? `${line.slice(0, MOST_ERROR).toWellFormed()}…` : line
}

/** The most relevant time: when the job is due, how long it has been running, or when it ended. */
function whenOf(job: JobSummary, now: number): string {
  const { waitsForOrder, waitsForGroup, dueAt, startedAt, endedAt, cancelReason } = job
  if (waitsForOrder) return 'blocked by order key'
  if (waitsForGroup) return 'waits for its group'
  if (endedAt !== null) return `ended ${fromNow(endedAt, now)}`
  if (startedAt !== null)
    return `for ${lasting(Math.max(0, now - startedAt))}${cancelReason === null ? '' : ', cancelling'}`
  return dueAt === null ? '' : `due ${fromNow(dueAt, now)}`
}
