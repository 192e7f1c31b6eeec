/**
 * Answers "Why isn't it running?". The first reason blocks the job the longest; the others would block it
 * too.
 */
import { useMay } from '../../../api/user/roles.ts'
import type { Job, Reason, Why } from '../../../api/types.ts'
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
import { Headline } from './headline.tsx'
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

function Waits({ job, reasons }: { readonly job: Job; readonly reasons: readonly Reason[] }) {
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
          Ends in <Countdown until={reason.until} />
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
    </Card>
  )
}
