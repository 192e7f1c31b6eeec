/** The options of the job and its timestamps. */
import type { ReactNode } from 'react'
import type { Job, Policy } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card, Fact, Facts } from '../../kit/card.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import { number } from '../../kit/text/format.ts'
import { Ago, Moment } from '../../kit/text/time.tsx'
import { InstanceName } from './instance-name.tsx'
import { PolicyFacts } from './policy-facts.tsx'
import type { Try } from './tries.ts'

interface Props {
  readonly job: Job
  readonly policy: Policy
  readonly last: Try | undefined
}

export function JobFacts({ job, policy, last }: Props) {
  const { queue, tags, priority, orderKey, dedupeKey } = job
  const schedule = job.metadata?.['schedule']
  return (
    <Card title="Details">
      <div className="grid content-start items-start gap-x-8 gap-y-1.5 sm:grid-cols-[1fr_1.1fr] max-sm:[&_dt]:min-w-24">
        <Facts>
          <Fact name="Kind">
            <KindLink kind={job.kind} />
          </Fact>
          <Fact name="Queue">
            <TextLink to={`/queues#${encodeURIComponent(queue)}`} className="wrap-anywhere">
              {queue}
            </TextLink>
          </Fact>
          <Fact name="Tags">
            <Tags tags={tags} />
          </Fact>
          <Fact name="Priority">
            {number(priority)} {priority === 0 ? '(default)' : priority < 0 ? '(higher)' : '(lower)'}
          </Fact>
          <PolicyFacts job={job} policy={policy} />
          <Fact name="Order key">{orderKey === null ? <None /> : <Key text={orderKey} />}</Fact>
          <Fact name="Dedupe key">{dedupeKey === null ? <None /> : <Key text={dedupeKey} />}</Fact>
        </Facts>
        <Facts>
          <Fact name="Enqueued">
            <When at={job.enqueuedAt} />
          </Fact>
          {job.dueAt !== null && (
            <Fact name="Due">
              <When at={job.dueAt} />
            </Fact>
          )}
          <Fact name="Started">
            <When
              at={job.startedAt ?? last?.startedAt ?? null}
              otherwise={job.endedAt === null ? 'not yet' : 'never'}
            />
          </Fact>
          <Fact name="Ended">
            <When at={job.endedAt} />
          </Fact>
          <Fact name="Instance">
            {last === undefined ? <None /> : <InstanceName id={job.instance ?? last.instance} />}
          </Fact>
          {typeof schedule === 'string' && (
            <Fact name="Schedule">
              <TextLink to={`/schedules/${encodeURIComponent(schedule)}`} className="wrap-anywhere">
                {schedule}
              </TextLink>
            </Fact>
          )}
          {job.cancelReason !== null && <Fact name="Cancel reason">{job.cancelReason}</Fact>}
        </Facts>
      </div>
    </Card>
  )
}

function Tags({ tags }: { readonly tags: readonly string[] }): ReactNode {
  if (tags.length === 0) return <None />
  return (
    <span className="flex flex-wrap gap-1">
      {tags.map((tag) => (
        <TextLink
          key={tag}
          to={`/jobs?tag=${encodeURIComponent(tag)}`}
          className="max-w-full truncate rounded bg-sunk px-1.5"
        >
          {tag}
        </TextLink>
      ))}
    </span>
  )
}

function Key({ text }: { readonly text: string }) {
  return <code className="font-mono text-xs wrap-anywhere">{text}</code>
}

function None() {
  return <span className="text-soft">none</span>
}

function When({ at, otherwise = 'not yet' }: { readonly at: number | null; readonly otherwise?: string }) {
  if (at === null) return <span className="text-soft">{otherwise}</span>
  return (
    <>
      <Ago at={at} />{' '}
      <span className="text-xs text-soft">
        (<Moment at={at} />)
      </span>
    </>
  )
}
