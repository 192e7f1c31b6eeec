/** Jobs as rows of a table. */
import type { JobState } from '../../job/state.ts'
import type { JobSummary } from '../../store/job-record.ts'
import type { Cell } from '../table.ts'
import type { Style } from '../terminal.ts'
import { fromNow, lasting } from '../wording.ts'

export const JOB_HEADS = ['id', 'kind', 'queue', 'state', 'attempt', 'enqueued', 'when']

export const STATE_STYLE: Readonly<Record<JobState, Style>> = {
  scheduled: 'blue',
  ready: 'cyan',
  running: 'yellow',
  done: 'green',
  dead: 'red',
  cancelled: 'gray',
}

export function jobRow(job: JobSummary, now: number): Cell[] {
  const { id, kind, queue, state, attempt, maxAttempts, enqueuedAt } = job
  return [
    id,
    kind,
    queue,
    { text: state, style: STATE_STYLE[state] },
    `${attempt}/${maxAttempts}`,
    fromNow(enqueuedAt, now),
    whenOf(job, now),
  ]
}

/** What matters of its times: when it is due, how long it runs, when it ended. */
function whenOf(job: JobSummary, now: number): string {
  const { waitsForTurn, dueAt, startedAt, endedAt, cancelReason } = job
  if (waitsForTurn) return 'waits for its turn'
  if (endedAt !== null) return `ended ${fromNow(endedAt, now)}`
  if (startedAt !== null)
    return `for ${lasting(Math.max(0, now - startedAt))}${cancelReason === null ? '' : ', to be cancelled'}`
  return dueAt === null ? '' : `due ${fromNow(dueAt, now)}`
}
