/** A bulk action: what it does to which jobs, its progress and its result. */
import type { ReactNode } from 'react'
import type { Job } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { Card, Fact, Facts } from '../../../kit/card.tsx'
import { Json } from '../../../kit/json/json.tsx'
import { number, plural, shortId } from '../../../kit/text/format.ts'
import { bulkOf, type BulkReport } from './bulk.ts'
import { ProgressBar } from '../progress-bar.tsx'

export function BulkCard({ job }: { readonly job: Job }) {
  const bulk = bulkOf(job)
  if (bulk === null) return null
  return (
    <Card title="Bulk action">
      <p className="text-lg leading-snug font-medium">{bulk.message}</p>
      <div className="mt-2 grid gap-4 sm:grid-cols-2">
        <Facts>
          {bulk.filter.map(({ name, value }) => (
            <Fact key={name} name={name}>
              <span className="break-all">{value}</span>
            </Fact>
          ))}
          {bulk.patch !== null && (
            <Fact name="Patch">
              <Json value={bulk.patch} name="patch" />
            </Fact>
          )}
          {bulk.reason !== null && <Fact name="Reason">{bulk.reason}</Fact>}
          <Fact name="Requested by">{bulk.by ?? <span className="text-soft">unknown</span>}</Fact>
        </Facts>
        <div>
          <HowFar job={job} report={bulk.report} />
          {bulk.to !== null && (
            <p className="mt-2">
              <TextLink to={bulk.to}>View matching jobs</TextLink>
            </p>
          )}
        </div>
      </div>
    </Card>
  )
}

function HowFar({ job, report }: { readonly job: Job; readonly report: BulkReport | null }): ReactNode {
  if (report !== null)
    return (
      <>
        <dl aria-label="Result" className="grid grid-cols-3 gap-4">
          <Metric name="Scanned" value={report.looked} />
          <Metric name="Changed" value={report.changed} />
          <Metric name="Skipped" value={report.refused + report.skipped} />
        </dl>
        {report.invalid.length > 0 && (
          <ul aria-label="Skipped jobs" className="mt-2 flex flex-col gap-1">
            {report.invalid.map(({ at, jobs, message, id }) => (
              <li key={at} className="break-words">
                <b className="font-semibold tabular-nums">{number(jobs)}</b>, payload invalid
                {at !== '' && ` at ${at}`}: {message} (<TextLink to={`/jobs/${id}`}>{shortId(id)}</TextLink>)
              </li>
            ))}
          </ul>
        )}
      </>
    )
  if (job.state === 'running')
    return job.progress === null ? (
      <p className="text-soft">Counting matching jobs…</p>
    ) : (
      <ProgressBar progress={job.progress} />
    )
  if (job.endedAt === null) return <p className="text-soft">Waiting to run.</p>
  return <p className="text-soft">Ended early. Changes made so far remain.</p>
}

function Metric({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <div>
      <dt className="text-soft">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums" title={plural(value, 'job')}>
        {number(value)} <span className="text-xs font-normal text-soft">{value === 1 ? 'job' : 'jobs'}</span>
      </dd>
    </div>
  )
}
