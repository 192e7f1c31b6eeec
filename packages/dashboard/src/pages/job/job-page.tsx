/** Job page: details, why it is not running, timeline and data. */
import { useEffect } from 'react'
import { useJob } from '../../api/reads.ts'
import { LinkButton } from '../../kit/button.tsx'
import { PageHead } from '../../kit/card.tsx'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { BulkCard } from './bulk/bulk-card.tsx'
import { BULK_KIND } from './bulk/bulk-kind.ts'
import { JobActs } from './job-acts.tsx'
import { JobFacts } from './job-facts.tsx'
import { JobHead } from './job-head.tsx'
import { JobTabs } from './job-tabs.tsx'
import { LARGEST } from './largest.ts'
import { AttemptsTable } from './timeline/attempts-table.tsx'
import { TimelineCard } from './timeline/timeline-card.tsx'
import { triesOf } from './tries.ts'
import { WhyCard } from './status/why-card.tsx'
import { useNeighbors } from './use-neighbors.ts'

export function JobPage({ id }: { readonly id: string }) {
  const read = useJob(id, LARGEST)
  useNeighbors(id)
  const kind = read.data?.job.kind
  useEffect(() => {
    if (kind !== undefined) document.title = `${kind} · Jobs · Jobmill`
  }, [kind])
  // Also when it was loaded before: the job may have been deleted since.
  if (read.error?.status === 404 || read.error?.code === 'ID_INVALID') return <NoSuchJob id={id} />
  return (
    <>
      {read.data === undefined && <PageHead title="Job" note={id} />}
      <DataView read={read} shape="cards">
        {(data) => {
          const { job, attempts, policy, left } = data
          const tries = triesOf(job, attempts)
          return (
            <div className="flex flex-col gap-4">
              <JobHead job={job}>
                <JobActs job={job} left={left} />
              </JobHead>
              {job.kind === BULK_KIND && <BulkCard job={job} />}
              <div className="grid gap-4 xl:grid-cols-2">
                <WhyCard read={data} last={tries.at(-1)} />
                <JobFacts job={job} policy={policy} last={tries.at(-1)} />
              </div>
              <TimelineCard job={job} tries={tries}>
                <AttemptsTable job={job} tries={tries} />
              </TimelineCard>
              <JobTabs read={data} tries={tries} />
            </div>
          )
        }}
      </DataView>
    </>
  )
}

function NoSuchJob({ id }: { readonly id: string }) {
  return (
    <>
      <PageHead title="Job not found" />
      <Empty title={`No job with id ${id}`}>
        <p className="mb-3">
          It may have been deleted, by an operator or by retention, or it may be in a different database.
        </p>
        <LinkButton to="/jobs">View all jobs</LinkButton>
      </Empty>
    </>
  )
}
