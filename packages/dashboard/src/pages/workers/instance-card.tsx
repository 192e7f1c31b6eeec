/** A worker process. */
import type { ReactNode } from 'react'
import { encodeName } from '../../api/client.ts'
import type { Instance, JobSummary, Slot } from '../../api/types.ts'
import { Card, Fact, Facts } from '../../kit/card.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { number, shortId, span } from '../../kit/text/format.ts'
import { Meter } from '../../kit/charts/meter.tsx'
import { Names } from '../../kit/text/names.tsx'
import { useNow } from '../../kit/text/time.tsx'
import { Heartbeat } from './heartbeat.tsx'
import { InstanceActs } from './instance-acts.tsx'
import { RunningJobs } from './running-jobs.tsx'
import type { Used } from './usage.ts'
import { UsageMetrics } from './usage-metrics.tsx'

interface Props {
  readonly instance: Instance
  /** This process serves the dashboard. */
  readonly isHere: boolean
  readonly slots: readonly Slot[]
  /** The number of jobs it can run at once. Null until its shares are assigned. */
  readonly workers: number | null
  readonly leads: readonly string[]
  readonly running: readonly JobSummary[]
  readonly used: readonly Used[]
}

export function InstanceCard({ instance, isHere, slots, workers, leads, running, used }: Props) {
  const { id, label, version, startedAt, queues, kinds, requested } = instance
  const name = label ?? shortId(id)
  const uptime = useNow() - startedAt
  const shares = new Map(slots.map(({ queue, workers }) => [queue, workers]))
  return (
    <Card
      title={
        <span className="flex min-w-0 flex-wrap items-center gap-x-2">
          <span className="max-w-72 truncate" title={label ?? id}>
            {name}
          </span>
          {isHere && <span className="text-xs font-normal text-soft">serving this dashboard</span>}
        </span>
      }
      tools={
        <>
          <Heartbeat instance={instance} running={running.length} />
          <InstanceActs instance={instance} running={running.length} />
        </>
      }
    >
      <div className="@container">
        <div className="grid gap-4 @3xl:grid-cols-2">
          <Facts>
            <Fact name="Id">
              <span className="inline-flex max-w-full items-center gap-1">
                <span className="truncate font-mono text-xs">{id}</span>
                <CopyButton className="-my-1.5" text={id} what={`the id of ${name}`} />
              </span>
            </Fact>
            <Fact name="Version">{version ?? <Soft>unknown</Soft>}</Fact>
            <Fact name="Uptime">{span(Math.floor(Math.max(0, uptime) / 1_000) * 1_000)}</Fact>
            <Fact name="Workers">
              {requested !== null ? (
                <Soft>none: other processes take its share</Soft>
              ) : workers === null ? (
                <Soft>{number(running.length)} busy, shares not assigned yet</Soft>
              ) : (
                <Meter
                  label={`Workers of ${name}`}
                  used={running.length}
                  of={workers}
                  unit="busy"
                  isBadWhenFull
                />
              )}
            </Fact>
            <Fact name="Queues">
              <Names
                names={queues}
                otherwise="none"
                to={(queue) => `/queues#${encodeName(queue)}`}
                text={(queue) => (shares.has(queue) ? `${queue} × ${number(shares.get(queue) ?? 0)}` : queue)}
              />
            </Fact>
            <Fact name="Kinds">
              <Names names={kinds} otherwise="none" to={(kind) => `/kinds/${encodeName(kind)}`} />
            </Fact>
            <Fact name="Leader of">
              <Names names={leads} otherwise="none" to={() => '/system'} />
            </Fact>
          </Facts>
          <div className="flex min-w-0 flex-col gap-4">
            <UsageMetrics used={used} of={name} />
            <section aria-label={`Running on ${name}`}>
              <h3 className="mb-1 text-xs font-semibold">Running</h3>
              <RunningJobs jobs={running} />
            </section>
          </div>
        </div>
      </div>
    </Card>
  )
}

function Soft({ children }: { readonly children: ReactNode }) {
  return <span className="text-soft">{children}</span>
}
