/** How far it is, in its own words too. */
import type { Job } from '../../../api/types/job.ts'
import { Json } from '../../../kit/json.tsx'
import { Empty } from '../../../kit/shown.tsx'
import { shareOf } from '../progress.ts'
import { ProgressBar } from '../progress-bar.tsx'

export function ProgressTab({ job }: { readonly job: Job }) {
  if (job.progress === null)
    return (
      <Empty title="No progress">
        {job.state === 'running'
          ? 'Its handler has told none so far. It does so by calling progress(value).'
          : 'It is kept while a job runs, and told by handlers that call progress(value).'}
      </Empty>
    )
  return (
    <div className="flex flex-col gap-3">
      {shareOf(job.progress) !== null && <ProgressBar progress={job.progress} />}
      <Json value={job.progress} name="progress" />
    </div>
  )
}
