/** Overview: whether all is well, and where to look when it is not. */
import { PageHead } from '../../kit/card.tsx'
import { Charts } from './charts/charts.tsx'
import { Figures } from './figures/figures.tsx'
import { InstancesCard } from './instances-card.tsx'
import { NewestEvents } from './newest-events.tsx'
import { Problems } from './problems/problems.tsx'
import { QueuesCard } from './queues-card.tsx'

export function OverviewPage() {
  return (
    <>
      <PageHead title="Overview" note="How it goes now, against an hour ago." />
      <div className="flex flex-col gap-5">
        <Figures />
        <Problems />
        <Charts />
        <div className="grid items-start gap-4 xl:grid-cols-3">
          <div className="min-w-0 xl:col-span-2">
            <QueuesCard />
          </div>
          <div className="grid min-w-0 gap-4 md:grid-cols-2 xl:grid-cols-1">
            <InstancesCard />
            <NewestEvents />
          </div>
        </div>
      </div>
    </>
  )
}
