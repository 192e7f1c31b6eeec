/** The outcome of a job that has ended, and its actions. */
import { useMay } from '../../../api/user/roles.ts'
import type { Job } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { plural, span } from '../../../kit/text/format.ts'
import { OutcomeBadge } from '../../../kit/state.tsx'
import { Ago } from '../../../kit/text/time.tsx'
import { RetryButton } from '../job-acts.tsx'
import { Headline } from './headline.tsx'
import { firstLine } from '../tabs/error-parts.ts'
import { ranMs, type Try } from '../tries.ts'

interface Props {
  readonly job: Job
  readonly last: Try | undefined
}

export function Died({ job, last }: Props) {
  const may = useMay()
  const error = job.error ?? last?.error ?? null
  return (
    <Card title="Why it failed" tools={may('operator') && <RetryButton job={job} look="main" />}>
      <p className="text-lg leading-snug font-medium break-words text-dead">
        {error === null ? 'No error recorded' : firstLine(error)}
      </p>
      <p className="mt-1 flex flex-wrap gap-x-4 text-soft">
        <span>
          {plural(job.attempt, 'attempt')} of {job.maxAttempts}, failed permanently <Ago at={job.endedAt} />
        </span>
        <TextLink to={`/jobs/${job.id}?tab=errors`}>View full error</TextLink>
      </p>
    </Card>
  )
}

export function Cancelled({ job, last }: Props) {
  const may = useMay()
  const reason = job.error ?? last?.error ?? job.cancelReason
  return (
    <Card title="Cancelled" tools={may('operator') && <RetryButton job={job} />}>
      <Headline>{reason === null ? 'No reason given' : firstLine(reason)}</Headline>
      <p className="mt-1 text-soft">
        <Ago at={job.endedAt} />. It will not run unless it is retried.
      </p>
    </Card>
  )
}

export function Done({ job, last }: Props) {
  const ran = last === undefined ? null : ranMs(last, 0)
  return (
    <Card title="Done">
      <Headline>
        {ran === null ? 'Completed' : `Completed in ${span(ran)}`}
        {job.attempt > 1 && `, attempt ${job.attempt} of ${job.maxAttempts}`}
      </Headline>
      <p className="mt-1 flex flex-wrap items-center gap-x-4 text-soft">
        <span>
          Completed <Ago at={job.endedAt} />
        </span>
        {last !== undefined && last.outcome !== 'running' && <OutcomeBadge outcome={last.outcome} />}
        {job.error !== null && <span className="text-dead">{job.error}</span>}
      </p>
    </Card>
  )
}
