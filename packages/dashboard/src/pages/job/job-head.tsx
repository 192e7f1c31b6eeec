/** The top of the job page: kind, state, id and actions. */
import type { ReactNode } from 'react'
import type { Job } from '../../api/types.ts'
import { CopyButton } from '../../kit/text/copy.tsx'
import { StateBadge } from '../../kit/state.tsx'

export function JobHead({ job, children }: { readonly job: Job; readonly children: ReactNode }) {
  const note =
    job.state === 'running' && job.cancelReason !== null
      ? 'cancellation requested'
      : job.waitsForOrder
        ? 'blocked by order key'
        : job.waitsForGroup
          ? `waits for group ${job.group}`
          : undefined
  return (
    <div className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">{job.kind}</h1>
          <span className="min-w-0 wrap-anywhere *:whitespace-normal">
            <StateBadge state={job.state} {...(note !== undefined && { note })} />
          </span>
        </div>
        <p className="flex items-center gap-1 text-soft">
          <span className="min-w-0 font-mono text-xs break-all">{job.id}</span>
          <CopyButton text={job.id} what="the job id" />
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </div>
  )
}
