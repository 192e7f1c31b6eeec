/** Asks before all dead jobs of a group are tried again, and leads to the job that does it. */
import { useLocation } from 'wouter'
import { useAct } from '../../api/acts.ts'
import { useBulkPreview } from '../../api/reads.ts'
import type { ErrorGroup } from '../../api/types/job.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { plural } from '../../kit/format.ts'

export function RetryGroup({ group, close }: { readonly group: ErrorGroup; readonly close: () => void }) {
  const { fingerprint, kind } = group
  const filter = { fingerprint, state: 'dead' }
  const { data, error } = useBulkPreview('retry', filter)
  const { act } = useAct<{ id: string }>()
  const [, go] = useLocation()
  const jobs = data?.jobs ?? 0
  return (
    <Confirm
      title="Retry the dead jobs of this error"
      verb={data === undefined ? 'Retry' : `Retry ${plural(jobs, 'job')}`}
      isReady={jobs > 0}
      close={close}
      act={async () => {
        const { id } = await act({
          method: 'POST',
          path: 'bulk',
          body: { act: 'retry', filter },
          done: `Retrying ${plural(jobs, 'job')}`,
        })
        go(`/jobs/${id}`)
      }}
    >
      {error !== null && (
        <p role="alert" className="text-dead">
          How many there are cannot be told: {error.message}
        </p>
      )}
      <p aria-live="polite">
        {data === undefined
          ? 'Counting the jobs…'
          : `${plural(jobs, 'dead job')} of ${kind} will be ready again, and may make all their attempts anew.`}
      </p>
      <p className="text-soft">
        A job does this piece by piece. It shows how far it is, and can be cancelled.
      </p>
    </Confirm>
  )
}
