/** The outcome of a tick, and its job. */
import { TextLink } from '../../kit/button.tsx'
import { shortId } from '../../kit/text/format.ts'

interface Props {
  readonly outcome: 'enqueued' | 'skipped' | null
  readonly job: string | null
}

export function LastRun({ outcome, job }: Props) {
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
      <span className="text-done">enqueued</span> {link}
    </>
  )
}
