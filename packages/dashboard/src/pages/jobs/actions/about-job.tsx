/** The job that a dialog is about. */
import type { JobSummary } from '../../../api/types.ts'
import { StateBadge } from '../../../kit/state.tsx'

export function AboutJob({
  job: { id, kind, state },
}: {
  readonly job: Pick<JobSummary, 'id' | 'kind' | 'state'>
}) {
  return (
    <div>
      <p className="break-words">
        <b className="font-medium">{kind}</b> <StateBadge state={state} />
      </p>
      <p className="font-mono text-xs break-all text-soft">{id}</p>
    </div>
  )
}
