/**
 * Answers "Why isn't it running?". The first reason blocks the job the longest; the others would block it
 * too.
 */
import type { ReactNode } from 'react'
import { useMay } from '../../../api/user/roles.ts'
import type { Inspected, Job, Reason } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { span } from '../../../kit/text/format.ts'
import { Countdown, useNow } from '../../../kit/text/time.tsx'
import { Cancelled, Died, Done } from './ended-cards.tsx'
import { InstanceName } from '../instance-name.tsx'
import { applies, RUN_NOW } from '../../jobs/actions/acts.ts'
import { RunNowButton } from '../job-acts.tsx'
import { ProgressBar } from '../progress-bar.tsx'
import type { Try } from '../tries.ts'
import { Failure } from './failure.tsx'
import { Headline } from './headline.tsx'
import { LastLines } from './last-lines.tsx'
import { SameError } from './same-error.tsx'
import { wayOutOf } from './way-out.ts'

interface Props {
  readonly read: Pick<Inspected, 'job' | 'why' | 'fingerprint'>
  readonly last: Try | undefined
}

export function WhyCard({ read: { job, why, fingerprint }, last }: Props) {
  switch (job.state) {
    case 'scheduled':
    case 'ready':
      return (
        <Waits job={job} reasons={why.reasons}>
          {fingerprint !== null && <LastFailure job={job} last={last} fingerprint={fingerprint} />}
        </Waits>
      )
    case 'running':
      return <Runs job={job} last={last} />
    case 'dead':
      return <Died job={job} last={last} fingerprint={fingerprint} />
    case 'cancelled':
      return <Cancelled job={job} last={last} />
    case 'done':
      return <Done job={job} last={last} />
  }
}

interface WaitsProps {
  readonly job: Job
  readonly reasons: readonly Reason[]
  readonly children: ReactNode
}

function Waits({ job, reasons, children }: WaitsProps) {
  const may = useMay()
  const [first, ...others] = reasons
  return (
    <Card
      title="Why isn't it running?"
      tools={may('operator') && applies(RUN_NOW, job) && <RunNowButton job={job} />}
    >
      {first === undefined ? (
        <Headline>The state has just changed</Headline>
      ) : (
        <>
          <Headline>{first.message}</Headline>
          <ReasonMore reason={first} job={job} />
        </>
      )}
      {others.length > 0 && (
        <>
          <p className="mt-3 text-xs text-soft">Also blocked by</p>
          <ul className="mt-1 flex flex-col gap-2 border-l-2 border-line pl-3">
            {others.map((reason) => (
              <li key={reason.why}>
                <p className="break-words">{reason.message}</p>
                <ReasonMore reason={reason} job={job} />
              </li>
            ))}
          </ul>
        </>
      )}
      {children}
    </Card>
  )
}

interface LastFailureProps {
  readonly job: Job
  readonly last: Try | undefined
  readonly fingerprint: string
}

function LastFailure({ job, last, fingerprint }: LastFailureProps) {
  return (
    <div className="mt-4 border-t border-line pt-3">
      <h3 className="mb-1 text-xs text-soft">Last error</h3>
      <Failure error={last?.error ?? null} log={last?.log ?? []} />
      <p className="mt-1 text-soft">
        <SameError kind={job.kind} fingerprint={fingerprint} />
      </p>
    </div>
  )
}

function ReasonMore({ reason, job }: { readonly reason: Reason; readonly job: Job }) {
  const way = wayOutOf(reason, job)
  if (way === null && reason.until === null) return null
  return (
    <p className="mt-1 flex flex-wrap gap-x-4 text-soft">
      {reason.until !== null && (
        <span>
          Ends in <Countdown until={reason.until} />
        </span>
      )}
      {way !== null && <TextLink to={way.to}>{way.text}</TextLink>}
    </p>
  )
}

function Runs({ job, last }: { readonly job: Job; readonly last: Try | undefined }) {
  const now = useNow()
  const { startedAt } = job
  return (
    <Card title="Running">
      <Headline>
        {startedAt === null ? 'Just started' : `Running for ${span(Math.max(0, now - startedAt))}`} on{' '}
        <InstanceName id={job.instance} />
      </Headline>
      {job.cancelReason !== null && (
        <p className="mt-1 text-ready">
          Cancellation requested: {job.cancelReason}. The job ends once its handler responds to the abort
          signal.
        </p>
      )}
      <div className="mt-3">
        <ProgressBar progress={job.progress} />
      </div>
      <LastLines id={job.id} last={last} />
    </Card>
  )
}
