/** Confirms that a job is deleted. */
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { JobSummary } from '../../../api/types.ts'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { AboutJob } from './about-job.tsx'

interface Props {
  readonly job: Pick<JobSummary, 'id' | 'kind' | 'state' | 'endedAt'>
  readonly close: () => void
  readonly onDeleted?: () => void
}

export function DeleteJob({ job, close, onDeleted }: Props) {
  const { act } = useAct()
  return (
    <Confirm
      title="Delete job?"
      verb="Delete job"
      isDangerous
      close={close}
      act={async () => {
        await act({ method: 'DELETE', path: `jobs/${encodeName(job.id)}`, done: `Deleted ${job.kind}` })
        onDeleted?.()
      }}
    >
      <AboutJob job={job} />
      <p>Deletes the job with its payload, attempts and logs. This cannot be undone.</p>
      {job.endedAt === null && <p className="text-soft">The job has not run to completion.</p>}
    </Confirm>
  )
}
