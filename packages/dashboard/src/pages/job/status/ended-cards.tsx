/** The outcome of a job that has ended, and its actions. */
import { useMay } from '../../../api/user/roles.ts'
import type { Inspected, Job } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { number, plural, span } from '../../../kit/text/format.ts'
import { Ago } from '../../../kit/text/time.tsx'
import { BULK_KIND } from '../bulk/bulk-kind.ts'
import { RetryButton } from '../job-acts.tsx'
import { Failure } from './failure.tsx'
import { Headline } from './headline.tsx'
import { LastLines } from './last-lines.tsx'
import { SameError } from './same-error.tsx'
import { firstLine } from '../tabs/error-parts.ts'
import { ranMs, type Try } from '../tries.ts'

/** The maximum number of characters of a result that the card shows. */
const MOST_SHOWN = 600

interface Props {
  readonly job: Job
  readonly last: Try | undefined
}

interface DiedProps extends Props {
  readonly fingerprint: Inspected['fingerprint']
}

export function Died({ job, last, fingerprint }: DiedProps) {
  const may = useMay()
  return (
    <Card title="Why it failed" tools={may('operator') && <RetryButton job={job} look="main" />}>
      <Failure error={job.error ?? last?.error ?? null} log={last?.log ?? []} />
      <p className="mt-2 text-soft">
        Failed permanently <Ago at={job.endedAt} />, after {plural(job.attempt, 'attempt')} of{' '}
        {number(job.maxAttempts)}
      </p>
      <p className="mt-1 flex flex-wrap gap-x-4 gap-y-1 text-soft">
        {fingerprint !== null && <SameError kind={job.kind} fingerprint={fingerprint} />}
        <TextLink to={`/jobs/${job.id}?tab=compare&with=completed`}>
          Compare with the last completed job
        </TextLink>
      </p>
      <LastLines id={job.id} last={last} />
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
      <LastLines id={job.id} last={last} />
    </Card>
  )
}

export function Done({ job, last }: Props) {
  const ran = last === undefined ? null : ranMs(last, 0)
  return (
    <Card title="Done">
      <Headline>
        {ran === null ? 'Completed' : `Completed in ${span(ran)},`} <Ago at={job.endedAt} />
      </Headline>
      {(job.attempt > 1 || job.error !== null) && (
        <p className="mt-1 flex flex-wrap items-center gap-x-4 text-soft">
          {job.attempt > 1 && `Attempt ${number(job.attempt)} of ${number(job.maxAttempts)}`}
          {job.error !== null && <span className="text-dead">{job.error}</span>}
        </p>
      )}
      {/* A bulk action shows its result above. */}
      {job.result !== null && job.kind !== BULK_KIND && <Result id={job.id} result={job.result} />}
      <LastLines id={job.id} last={last} />
    </Card>
  )
}

function Result({ id, result }: { readonly id: string; readonly result: unknown }) {
  return (
    <div className="mt-3">
      <h3 className="flex items-baseline justify-between gap-4 text-xs text-soft">
        Result
        <TextLink to={`/jobs/${id}?tab=result`}>View result</TextLink>
      </h3>
      <div className="mt-1 rounded-lg bg-sunk px-3 py-2">
        <pre className="line-clamp-6 font-mono text-xs break-all whitespace-pre-wrap">
          {JSON.stringify(result, null, 2).slice(0, MOST_SHOWN)}
        </pre>
      </div>
    </div>
  )
}
