/** The outcome of a tick: skipped, or the state of its job. */
import { TextLink } from '../../kit/button.tsx'
import type { State } from '../../api/types.ts'
import { StateBadge } from '../../kit/state.tsx'
import { shortId } from '../../kit/text/format.ts'

interface Props {
  readonly outcome: 'enqueued' | 'skipped' | null
  readonly job: string | null
  /** The current state of the job; null if it was deleted. */
  readonly state: State | null
}

export function LastRun({ outcome, job, state }: Props) {
  const link = job !== null && (
    <TextLink to={`/jobs/${job}`} className="font-mono text-xs">
      {shortId(job)}
    </TextLink>
  )
  if (outcome === 'skipped')
    return (
      <>
        <span className="text-ready">skipped</span>, still running or waiting: {link}
      </>
    )
  return (
    <>
      {state === null ? <span className="text-soft">enqueued</span> : <StateBadge state={state} />} {link}
    </>
  )
}
