/** The timeline of the job, and its attempts as a table below. */
import type { ReactNode } from 'react'
import type { Job } from '../../../api/types.ts'
import { Card } from '../../../kit/card.tsx'
import { span } from '../../../kit/text/format.ts'
import { useNow } from '../../../kit/text/time.tsx'
import type { Try } from '../tries.ts'
import { TimelineBar } from './timeline-bar.tsx'

interface Props {
  readonly job: Job
  readonly tries: readonly Try[]
  readonly children: ReactNode
}

export function TimelineCard({ job, tries, children }: Props) {
  const now = useNow()
  const end = Math.max(job.endedAt ?? now, job.enqueuedAt)
  return (
    <Card
      flush
      title="Timeline"
      tools={
        <span className="text-xs text-soft tabular-nums">
          {span(end - job.enqueuedAt)} {job.endedAt === null ? 'so far' : 'from enqueue to end'}
        </span>
      }
    >
      <div className="px-4 pb-3">
        <TimelineBar job={job} tries={tries} now={now} />
      </div>
      {children}
    </Card>
  )
}
