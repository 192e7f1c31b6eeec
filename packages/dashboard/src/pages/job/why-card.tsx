/** Why isn't it running? The first sentence is what holds it up longest; the others would hold it up too. */
import type { ReactNode } from 'react'
import { useMay } from '../../api/roles.ts'
import type { Job, Reason, Why } from '../../api/types/job.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { plural, span } from '../../kit/format.ts'
import { OutcomeBadge } from '../../kit/state.tsx'
import { Ago, Countdown, useNow } from '../../kit/time.tsx'
import { InstanceName } from './instance-name.tsx'
import { RetryButton, RunNowButton } from './job-acts.tsx'
import { ProgressBar } from './progress-bar.tsx'
import { firstLine } from './tabs/error-parts.ts'
import { ranMs, type Try } from './tries.ts'
import { wayOutOf } from './way-out.ts'

interface Props {
  readonly job: Job
  readonly why: Why
  readonly last: Try | undefined
}

export function WhyCard({ job, why, last }: Props) {
  switch (job.state) {
    case 'scheduled':
    case 'ready':
      return <Waits job={job} reasons={why.reasons} />
    case 'running':
      return <Runs job={job} />
    case 'dead':
      return <Died job={job} last={last} />
    case 'cancelled':
      return <Cancelled job={job} last={last} />
    case 'done':
      return <Done job={job} last={last} />
  }
}

function Said({ children }: { readonly children: ReactNode }) {
  return <p className="text-lg leading-snug font-medium text-balance break-words">{children}</p>
}

function Waits({ job, reasons }: { readonly job: Job; readonly reasons: readonly Reason[] }) {
  const may = useMay()
  const [first, ...others] = reasons
  return (
    <Card
      title="Why isn't it running?"
      tools={may('operator') && job.state === 'scheduled' && <RunNowButton job={job} />}
    >
      {first === undefined ? (
        <Said>Its state has just changed</Said>
      ) : (
        <>
          <Said>{first.says}</Said>
          <ReasonMore reason={first} job={job} />
        </>
      )}
      {others.length > 0 && (
        <>
          <p className="mt-3 text-xs text-soft">Also in its way</p>
          <ul className="mt-1 flex flex-col gap-2 border-l-2 border-line pl-3">
            {others.map((reason) => (
              <li key={reason.why}>
                <p className="break-words">{reason.says}</p>
                <ReasonMore reason={reason} job={job} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}

function ReasonMore({ reason, job }: { readonly reason: Reason; readonly job: Job }) {
  const way = wayOutOf(reason, job)
  if (way === null && reason.until === null) return null
  return (
    <p className="mt-1 flex flex-wrap gap-x-4 text-soft">
      {reason.until !== null && (
        <span>
          Over in <Countdown until={reason.until} />
        </span>
      )}
      {way !== null && <TextLink to={way.to}>{way.text}</TextLink>}
    </p>
  )
}

function Runs({ job }: { readonly job: Job }) {
  const now = useNow()
  const { startedAt } = job
  return (
    <Card title="It is running">
      <Said>
        Since {startedAt === null ? 'just now' : span(Math.max(0, now - startedAt))}, on{' '}
        <InstanceName id={job.instance} />
      </Said>
      {job.cancelReason !== null && (
        <p className="mt-1 text-ready">
          It was asked to stop: {job.cancelReason}. It ends when its handler hears that.
        </p>
      )}
      <div className="mt-3">
        <ProgressBar progress={job.progress} />
      </div>
    </Card>
  )
}

function Died({ job, last }: { readonly job: Job; readonly last: Try | undefined }) {
  const may = useMay()
  const error = job.error ?? last?.error ?? null
  return (
    <Card title="Why did it die?" tools={may('operator') && <RetryButton job={job} look="main" />}>
      <p className="text-lg leading-snug font-medium break-words text-dead">
        {error === null ? 'It left no error' : firstLine(error)}
      </p>
      <p className="mt-1 flex flex-wrap gap-x-4 text-soft">
        <span>
          {plural(job.attempt, 'attempt')} of {job.maxAttempts}, dead since <Ago at={job.endedAt} />
        </span>
        <TextLink to={`/jobs/${job.id}?tab=errors`}>See the whole error</TextLink>
      </p>
    </Card>
  )
}

function Cancelled({ job, last }: { readonly job: Job; readonly last: Try | undefined }) {
  const may = useMay()
  const reason = job.error ?? last?.error ?? job.cancelReason
  return (
    <Card title="It was cancelled" tools={may('operator') && <RetryButton job={job} />}>
      <Said>{reason === null ? 'Nobody said why' : firstLine(reason)}</Said>
      <p className="mt-1 text-soft">
        <Ago at={job.endedAt} />. It runs again only when somebody retries it.
      </p>
    </Card>
  )
}

function Done({ job, last }: { readonly job: Job; readonly last: Try | undefined }) {
  const ran = last === undefined ? null : ranMs(last, 0)
  return (
    <Card title="It is done">
      <Said>
        {ran === null ? 'It ended well' : `It ran for ${span(ran)}`}
        {job.attempt > 1 && `, in attempt ${job.attempt} of ${job.maxAttempts}`}
      </Said>
      <p className="mt-1 flex flex-wrap items-center gap-x-4 text-soft">
        <span>
          Done <Ago at={job.endedAt} />
        </span>
        {last !== undefined && last.outcome !== 'running' && <OutcomeBadge outcome={last.outcome} />}
        {job.error !== null && <span className="text-dead">{job.error}</span>}
      </p>
    </Card>
  )
}
