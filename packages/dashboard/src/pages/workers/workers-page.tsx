/** Workers page: worker processes (instances), their jobs and resource usage, and jobs without a worker. */
import { useJobs, useQueues, useWorkers } from '../../api/reads.ts'
import type { JobSummary, Workers } from '../../api/types.ts'
import { isClaiming, workersOf, workersOn } from '../../metrics/workers.ts'
import { classes } from '../../kit/classes.ts'
import { Card, PageHead } from '../../kit/card.tsx'
import { NOTE, Skeleton } from '../../kit/skeleton.tsx'
import { number, plural } from '../../kit/text/format.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { EndedInstances } from './ended-instances.tsx'
import { InstanceCard } from './instance-card.tsx'
import { UnservedKindsCard } from './unserved-kinds.tsx'
import { SwimLanes } from './lanes/swim-lanes.tsx'
import { useUsage } from './usage.ts'

/** The maximum page size of the API. */
const MOST_RUNNING = 500

export function WorkersPage() {
  const read = useWorkers()
  return (
    <>
      <PageHead title="Workers" note={read.data === undefined ? NOTE : <Note {...read.data} />} />
      <DataView read={read} shape="cards">
        {(workers) => <Processes workers={workers} />}
      </DataView>
    </>
  )
}

function Note(workers: Workers) {
  const total = workersOf(
    useQueues().data?.queues.map(({ settings }) => settings),
    workers,
  )
  const alive = workers.instances.filter(({ state }) => state === 'alive')
  const quiet = alive.filter((one) => !isClaiming(one)).length
  const note = quiet === 0 ? '' : `, ${number(quiet)} quiet or stopping`
  const processes = plural(alive.length, 'worker process', 'worker processes')
  return `${processes}${total === null ? '' : ` with ${plural(total, 'worker')}`}${note}`
}

function Processes({ workers: { here, instances, slots, duties } }: { readonly workers: Workers }) {
  const running = useJobs({ state: 'running', limit: MOST_RUNNING }).data
  const { data: queues, isPending } = useQueues()
  const usage = useUsage()
  const current = instances.filter(({ endedAt }) => endedAt === null)
  const ended = instances.filter(({ endedAt }) => endedAt !== null)
  const isServed = (queue: string): boolean =>
    instances.some((one) => isClaiming(one) && one.queues.includes(queue))
  // The kinds without a worker appear above the processes. Wait for them, so that nothing moves down later.
  if (isPending) return <Skeleton shape="cards" />
  const byInstance = Map.groupBy<string | null, JobSummary>(running?.jobs ?? [], ({ instance }) => instance)
  return (
    <>
      <UnservedKindsCard
        unservedKinds={queues?.unservedKinds ?? []}
        queues={(queues?.queues ?? []).filter(
          ({ settings, counts }) => counts.scheduled > 0 && !isServed(settings.name),
        )}
        instances={instances}
      />
      <SwimLanes instances={instances} />
      {current.length === 0 ? (
        <Card>
          <Empty title="No worker processes">
            Start one with <code className="font-mono">jobmill work</code>, or call{' '}
            <code className="font-mono">mill.start()</code> in your program.
          </Empty>
        </Card>
      ) : (
        <div className={classes('grid items-start gap-4', current.length > 1 && 'xl:grid-cols-2')}>
          {current.map((instance) => (
            <InstanceCard
              key={instance.id}
              instance={instance}
              isHere={instance.id === here}
              workers={workersOn(
                instance,
                queues?.queues.map(({ settings }) => settings),
                slots,
              )}
              slots={slots.filter((slot) => slot.instance === instance.id)}
              leads={duties.filter(({ leader }) => leader === instance.id).map(({ name }) => name)}
              running={byInstance.get(instance.id) ?? []}
              used={usage.get(instance.id) ?? []}
            />
          ))}
        </div>
      )}
      {(running?.next ?? null) !== null && (
        <p className="mt-2 text-soft">Showing the first {number(MOST_RUNNING)} running jobs.</p>
      )}
      <EndedInstances instances={ended.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))} />
    </>
  )
}
