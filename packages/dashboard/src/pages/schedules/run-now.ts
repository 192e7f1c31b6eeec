/**
 * An extra run of a schedule. The job may charge or send something a second time, so it is enqueued with a
 * short delay, during which a cancel undoes the run.
 */
import type { Act } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Answer, Schedule } from '../../api/types.ts'
import { cancelAct } from '../jobs/actions/one-job.ts'

const DELAY_S = 10

export function runNow({ name, kind }: Schedule): Act<Answer<'schedules.trigger'>> {
  return {
    method: 'POST',
    path: `schedules/${encodeName(name)}/trigger`,
    body: { delay: `${DELAY_S}s` },
    done: ({ outcome, job }) =>
      outcome === 'enqueued'
        ? {
            text: `Enqueued a run of ${name}`,
            note: `Its ${kind} job starts in ${DELAY_S} s. The scheduled runs are unchanged.`,
            back: { verb: 'Undo', act: () => cancelAct({ id: job, kind }) },
          }
        : { text: `Skipped ${name}`, note: 'Its previous job is still waiting or running.' },
  }
}
