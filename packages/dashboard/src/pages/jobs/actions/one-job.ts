/** The actions on one job that need no confirmation. */
import type { Act } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { Answer, JobSummary } from '../../../api/types.ts'
import { BULK_KIND } from '../../job/bulk/bulk-kind.ts'

type Acted = Pick<JobSummary, 'id' | 'kind'>

const pathOf = ({ id }: Acted, act: string): string => `jobs/${encodeName(id)}/${act}`

export function retryAct(job: Acted): Act {
  const note = 'It restarts with a full set of attempts.'
  return { method: 'POST', path: pathOf(job, 'retry'), done: { text: `Queued ${job.kind} for retry`, note } }
}

export function runNowAct(job: Acted): Act<Answer<'jobs.run-now'>> {
  return {
    method: 'POST',
    path: pathOf(job, 'run-now'),
    done: ({ state, hint }) =>
      state === 'scheduled'
        ? { text: `${job.kind} is due now`, ...(hint !== undefined && { note: hint }) }
        : { text: `Moved ${job.kind} to ready`, note: 'It starts when a worker is free.' },
  }
}

/** A cancelled job can be retried. A running one ends on its own, after its handler has reacted. */
export function cancelAct(job: Acted, reason = ''): Act<Answer<'jobs.cancel'>> {
  const given = reason.trim()
  return {
    method: 'POST',
    path: pathOf(job, 'cancel'),
    body: given === '' ? {} : { reason: given },
    done: ({ state }) =>
      state === 'cancelled'
        ? {
            text: `Cancelled ${job.kind}`,
            note: 'It will not run unless it is retried.',
            // Retrying a bulk action requires another role.
            ...(job.kind !== BULK_KIND && { back: { verb: 'Retry', act: () => retryAct(job) } }),
          }
        : {
            text: `Asked ${job.kind} to stop`,
            note: 'It ends when its handler responds to the abort signal.',
          },
  }
}
