/** Confirms a retry of all dead jobs of an error group, then opens the bulk action. */
import { useLocation } from 'wouter'
import { useAct } from '../../api/acts.ts'
import { useBulkPreview } from '../../api/reads.ts'
import type { Answer, ErrorGroup } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { plural } from '../../kit/text/format.ts'

export function RetryGroup({ group, close }: { readonly group: ErrorGroup; readonly close: () => void }) {
  const { fingerprint, kind } = group
  const filter = { fingerprint, state: 'dead' }
  const { data, error } = useBulkPreview('retry', filter)
  const { act } = useAct<Answer<'bulk.run'>>()
  const [, go] = useLocation()
  const jobs = data?.jobs ?? 0
  return (
    <Confirm
      title="Retry dead jobs with this error?"
      verb={data === undefined ? 'Retry' : `Retry ${plural(jobs, 'job')}`}
      isReady={jobs > 0}
      close={close}
      act={async () => {
        const { id } = await act({
          method: 'POST',
          path: 'bulk',
          body: { act: 'retry', filter },
          done: `Retry queued for ${plural(jobs, 'job')}`,
        })
        go(`/jobs/${id}`)
      }}
    >
      {error !== null && (
        <p role="alert" className="text-dead">
          Could not count the jobs: {error.message}
        </p>
      )}
      <p aria-live="polite">
        {data === undefined
          ? 'Counting jobs…'
          : `${plural(jobs, `dead ${kind} job`)} will be ready again, with a full set of attempts.`}
      </p>
      <p className="text-soft">This runs as a bulk action that shows its progress and can be cancelled.</p>
    </Confirm>
  )
}
