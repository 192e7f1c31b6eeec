/** The settings of a schedule. */
import type { ReactNode } from 'react'
import type { Schedule } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Fact, Facts } from '../../kit/card.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import { number, plural, span } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'
import { NextRun } from './next-run.tsx'

export function ScheduleFacts({ schedule }: { readonly schedule: Schedule }) {
  const { when, zone, kind, queue, tags, startAt, endAt, jitterMs, missedRuns } = schedule
  return (
    <div className="grid gap-x-8 gap-y-1.5 xl:grid-cols-2">
      <Facts>
        <Fact name="Next run">
          <NextRun schedule={schedule} />
        </Fact>
        <Fact name="Expression">
          <code className="font-mono">{when}</code>
        </Fact>
        <Fact name="Time zone">{zone}</Fact>
        <Fact name="Jitter">{jitterMs === 0 ? 'none' : `random delay of up to ${span(jitterMs)}`}</Fact>
        <Fact name="Start">{startAt === null ? 'none' : <Ago at={startAt} />}</Fact>
        <Fact name="End">{endAt === null ? 'none' : <Ago at={endAt} />}</Fact>
        <Fact name="Missed runs">{missedText(schedule)}</Fact>
        <Fact name="Missed total">{plural(missedRuns, 'run')}</Fact>
        <Fact name="Overlap">
          {schedule.overlap === 'allow' ? 'allowed' : 'skip while the previous job is waiting or running'}
        </Fact>
      </Facts>
      <Facts>
        <Fact name="Kind">
          <KindLink kind={kind} />
        </Fact>
        <Fact name="Queue">
          <TextLink to={`/queues#${encodeURIComponent(queue)}`}>{queue}</TextLink>
        </Fact>
        <Fact name="Priority">{number(schedule.priority)}</Fact>
        <Fact name="Attempts">max {number(schedule.maxAttempts)}</Fact>
        <Fact name="Timeout">{schedule.timeoutMs === null ? 'kind default' : span(schedule.timeoutMs)}</Fact>
        <Fact name="Tags">{tagList(tags)}</Fact>
        <Fact name="Created">
          <Ago at={schedule.createdAt} />
          {schedule.version === null ? ', in the dashboard or API' : `, in code, version ${schedule.version}`}
        </Fact>
      </Facts>
    </div>
  )
}

function missedText({ missed, missedWithinMs }: Schedule): string {
  if (missed === 'skip') return 'skip'
  return missed === 'last' ? 'run the latest' : `run all of the last ${span(missedWithinMs)}`
}

function tagList(tags: readonly string[]): ReactNode {
  if (tags.length === 0) return 'none'
  return tags.map((tag, at) => (
    <span key={tag}>
      {at > 0 && ', '}
      <TextLink to={`/jobs?${new URLSearchParams({ tag }).toString()}`}>{tag}</TextLink>
    </span>
  ))
}
