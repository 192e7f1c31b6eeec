/** Overview page: health at a glance, with links to the details. */
import { PageHead } from '../../kit/card.tsx'
import { Charts } from './charts/charts.tsx'
import { HeadlineMetrics } from './metrics/metrics.tsx'
import { DatabaseLine } from './database-line.tsx'
import { InstancesCard } from './instances-card.tsx'
import { LongestRunning } from './longest-running.tsx'
import { NewestEvents } from './newest-events.tsx'
import { Problems } from './problems/problems.tsx'
import { QueuesCard } from './queues-card.tsx'
import { ResourcesCard } from './resources/resources-card.tsx'

export function OverviewPage() {
  return (
    <>
      <PageHead title="Overview" note="Last 5 minutes, compared with an hour ago" />
      <div className="flex flex-col gap-5">
        <HeadlineMetrics />
        <Problems />
        <DatabaseLine />
        <Charts />
        <QueuesCard />
        <LongestRunning />
        <ResourcesCard />
        <div className="grid items-start gap-4 md:grid-cols-2">
          <InstancesCard />
          <NewestEvents />
        </div>
      </div>
    </>
  )
}
