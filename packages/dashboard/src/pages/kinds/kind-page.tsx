/** Kind page: how the attempts of one kind end, how long they run, its errors, its jobs and its workers. */
import { useErrors, useJobs, useKinds } from '../../api/reads.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { NOTE } from '../../kit/skeleton.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { HealthBadge } from '../../kit/health.tsx'
import { KindCharts } from './kind-charts.tsx'
import { KindErrors } from './kind-errors.tsx'
import { KindFacts } from './kind-facts.tsx'
import { RecentRuns } from './recent-runs.tsx'

const RUNS = 10
/** No index leads to the jobs of a kind: the server may have to read 50,000 jobs. */
const RUNS_EVERY_MS = 15_000

export function KindPage({ kind }: { readonly kind: string }) {
  const { data, isPending } = useKinds()
  const known = data?.kinds.find((one) => one.kind === kind)
  const errors = useErrors({ kind })
  const runs = useJobs({ kind, limit: RUNS }, { atMostEveryMs: RUNS_EVERY_MS })
  const jobs = `/jobs?${new URLSearchParams({ kind }).toString()}`
  const recent = known?.recent ?? null
  return (
    <>
      <PageHead
        title={<span className="break-all">{kind}</span>}
        note={
          isPending ? (
            NOTE
          ) : recent === null ? (
            'No attempts in the last 10 minutes'
          ) : (
            <HealthBadge word={recent.health} attempts={recent.attempts} failed={recent.failed} />
          )
        }
      >
        <LinkButton to={jobs}>View jobs</LinkButton>
      </PageHead>
      <div className="flex min-w-0 flex-col gap-4">
        <KindFacts kind={kind} known={known} />
        <KindCharts kind={kind} />
        <Card flush title="Errors">
          <DataView read={errors} shape="table">
            {(data) => <KindErrors kind={kind} errors={data} />}
          </DataView>
        </Card>
        <Card flush title="Recent jobs">
          <DataView read={runs} shape="table">
            {(page) => <RecentRuns kind={kind} page={page} />}
          </DataView>
        </Card>
      </div>
    </>
  )
}
