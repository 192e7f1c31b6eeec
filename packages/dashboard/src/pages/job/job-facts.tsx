/** The options of the job and its timestamps. Those that it does not have are left out. */
import type { ReactNode } from 'react'
import type { Job, Policy } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card, Fact, Facts } from '../../kit/card.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import { number } from '../../kit/text/format.ts'
import { Ago, Moment } from '../../kit/text/time.tsx'
import { groupAddress } from '../jobs/filter/address.ts'
import { InstanceName } from './instance-name.tsx'
import { AttemptFacts, BackoffFact } from './policy-facts.tsx'
import type { Try } from './tries.ts'

interface Props {
  readonly job: Job
  readonly policy: Policy
  readonly last: Try | undefined
}

export function JobFacts({ job, policy, last }: Props) {
  const { queue, tags, priority, orderKey, group, dedupeKey } = job
  const schedule = job.metadata?.['schedule']
  const startedAt = job.startedAt ?? last?.startedAt ?? null
  const instance = job.instance ?? last?.instance ?? null
  return (
    <Card title="Details">
      <div className="grid content-start items-start gap-x-4 gap-y-1.5 sm:grid-cols-[1.05fr_1fr] [&_dt]:min-w-18 max-sm:[&_dt]:min-w-24">
        <Facts>
          <Fact name="Kind">
            <KindLink kind={job.kind} />
          </Fact>
          <Fact name="Queue">
            <TextLink to={`/queues#${encodeURIComponent(queue)}`} className="wrap-anywhere">
              {queue}
            </TextLink>
          </Fact>
          {tags.length > 0 && (
            <Fact name="Tags">
              <Tags tags={tags} />
            </Fact>
          )}
          {priority !== 0 && (
            <Fact name="Priority">
              {number(priority)} {priority < 0 ? '(higher)' : '(lower)'}
            </Fact>
          )}
          {orderKey !== null && (
            <Fact name="Order key">
              <Key text={orderKey} />
            </Fact>
          )}
          {group !== null && (
            <Fact name="Group">
              <TextLink to={groupAddress(queue, group)} className="wrap-anywhere">
                {group}
              </TextLink>
            </Fact>
          )}
          {dedupeKey !== null && (
            <Fact name="Dedupe key">
              <Key text={dedupeKey} />
            </Fact>
          )}
          <AttemptFacts job={job} policy={policy} />
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
          {startedAt !== null && (
            <Fact name="Started">
              <When at={startedAt} />
            </Fact>
          )}
          {job.endedAt !== null && (
            <Fact name="Ended">
              <When at={job.endedAt} />
            </Fact>
          )}
          {instance !== null && (
            <Fact name="Instance">
              <InstanceName id={instance} />
            </Fact>
          )}
          {typeof schedule === 'string' && (
            <Fact name="Schedule">
              <TextLink to={`/schedules/${encodeURIComponent(schedule)}`} className="wrap-anywhere">
                {schedule}
              </TextLink>
            </Fact>
          )}
          {job.cancelReason !== null && <Fact name="Cancel reason">{job.cancelReason}</Fact>}
        </Facts>
        <div className="sm:col-span-2">
          <Facts>
            <BackoffFact policy={policy} />
          </Facts>
        </div>
      </div>
    </Card>
  )
}

function Tags({ tags }: { readonly tags: readonly string[] }): ReactNode {
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

function When({ at }: { readonly at: number }) {
  return (
    <>
      <Ago at={at} />{' '}
      <span className="text-xs text-soft">
        (<Moment at={at} />)
      </span>
    </>
  )
}
