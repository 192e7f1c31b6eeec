/** The payload, metadata and result of the job. */
import type { Inspected, Job } from '../../../api/types.ts'
import { Json } from '../../../kit/json/json.tsx'
import { Empty } from '../../../kit/data-view.tsx'
import { LargeValue } from './large-value.tsx'

interface Props {
  readonly job: Job
  readonly left: Inspected['left']
}

export function PayloadTab({ job, left }: Props) {
  return (
    <div className="flex flex-col gap-3">
      {left.payload === undefined ? (
        <Json value={job.payload} name="payload" />
      ) : (
        <LargeValue id={job.id} field="payload" size={left.payload} />
      )}
      {job.metadata !== null && (
        <>
          <h3 className="text-xs font-semibold">Metadata</h3>
          <Json value={job.metadata} name="metadata" />
        </>
      )}
    </div>
  )
}

export function ResultTab({ job, left }: Props) {
  if (left.result !== undefined) return <LargeValue id={job.id} field="result" size={left.result} />
  if (job.state !== 'done')
    return (
      <Empty title="No result">
        {job.endedAt === null
          ? 'The return value appears here when the job completes.'
          : `The job is ${job.state} and has no return value.`}
      </Empty>
    )
  if (job.result === null)
    return <Empty title="No return value">{job.error ?? 'The handler returned nothing, or null.'}</Empty>
  return <Json value={job.result} name="result" />
}
