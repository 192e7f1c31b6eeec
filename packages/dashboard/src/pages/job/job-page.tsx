/** One job: what it is, why it does not run, its life, and everything it carries. */
import { useEffect } from 'react'
import { useJob } from '../../api/reads.ts'
import { LinkButton } from '../../kit/button.tsx'
import { PageHead } from '../../kit/card.tsx'
import { Empty, Shown } from '../../kit/shown.tsx'
import { BulkCard } from './bulk-card.tsx'
import { BULK_KIND } from './bulk-kind.ts'
import { JobActs } from './job-acts.tsx'
import { JobFacts } from './job-facts.tsx'
import { JobHead } from './job-head.tsx'
import { JobTabs } from './job-tabs.tsx'
import { AttemptsTable } from './timeline/attempts-table.tsx'
import { TimelineCard } from './timeline/timeline-card.tsx'
import { triesOf } from './tries.ts'
import { WhyCard } from './why-card.tsx'

/** What is larger comes on demand. */
const LARGEST = 262_144

export function JobPage({ id }: { readonly id: string }) {
  const read = useJob(id, LARGEST)
  const kind = read.data?.job.kind
  useEffect(() => {
    if (kind !== undefined) document.title = `${kind} · Jobs · Jobmill`
  }, [kind])
  // Also when it was there a moment ago: somebody deleted it.
  if (read.error?.status === 404 || read.error?.code === 'ID_INVALID') return <NoSuchJob id={id} />
  return (
    <>
      {read.data === undefined && <PageHead title="Job" note={id} />}
      <Shown read={read}>
        {({ job, attempts, why, left }) => {
          const tries = triesOf(job, attempts)
          return (
            <div className="flex flex-col gap-4">
              <JobHead job={job}>
                <JobActs job={job} left={left} />
              </JobHead>
              {job.kind === BULK_KIND && <BulkCard job={job} />}
              <div className="grid gap-4 xl:grid-cols-2">
                <WhyCard job={job} why={why} last={tries.at(-1)} />
                <JobFacts job={job} last={tries.at(-1)} />
              </div>
              <TimelineCard job={job} tries={tries}>
                <AttemptsTable job={job} tries={tries} />
              </TimelineCard>
              <JobTabs job={job} tries={tries} left={left} />
            </div>
          )
        }}
      </Shown>
    </>
  )
}

function NoSuchJob({ id }: { readonly id: string }) {
  return (
    <>
      <PageHead title="There is no such job" />
      <Empty title={`No job has the id ${id}`}>
        <p className="mb-3">
          It may have been deleted, or have ended longer ago than its queue keeps jobs. It may also belong to
          another store than the one named in the menu.
        </p>
        <LinkButton to="/jobs">Look at the jobs that are there</LinkButton>
      </Empty>
    </>
  )
}
