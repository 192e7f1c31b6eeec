/** Asks for a reason, and cancels a job. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import type { Answer, JobSummary } from '../../../api/types.ts'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { AboutJob } from './about-job.tsx'
import { cancelAct } from './one-job.ts'
import { ReasonField } from './reason-field.tsx'

interface Props {
  readonly job: Pick<JobSummary, 'id' | 'kind' | 'state'>
  readonly close: () => void
}

export function CancelWithReason({ job, close }: Props) {
  const { act } = useAct<Answer<'jobs.cancel'>>()
  const [reason, setReason] = useState('')
  const isRunning = job.state === 'running'
  return (
    <Confirm
      title="Cancel job?"
      verb="Cancel job"
      dismiss={isRunning ? 'Keep running' : 'Keep job'}
      isDangerous
      close={close}
      act={() => act(cancelAct(job, reason))}
    >
      <AboutJob job={job} />
      <p>
        {isRunning
          ? 'The running job will be asked to stop. It ends once its handler responds to the abort signal.'
          : 'The job will not run. It can be retried until retention deletes it.'}
      </p>
      <ReasonField reason={reason} change={setReason} />
    </Confirm>
  )
}
