/** Progress of the job, also as the raw value. */
import type { Job } from '../../../api/types.ts'
import { Json } from '../../../kit/json/json.tsx'
import { Empty } from '../../../kit/data-view.tsx'
import { shareOf } from '../progress.ts'
import { ProgressBar } from '../progress-bar.tsx'

export function ProgressTab({ job }: { readonly job: Job }) {
  if (job.progress === null)
    return (
      <Empty title="No progress">
        {job.state === 'running'
          ? 'No progress reported. Call progress(value) in the handler.'
          : 'Progress is kept while a job runs. Call progress(value) in the handler.'}
      </Empty>
    )
  return (
    <div className="flex flex-col gap-3">
      {shareOf(job.progress) !== null && <ProgressBar progress={job.progress} />}
      <Json value={job.progress} name="progress" />
    </div>
  )
}
