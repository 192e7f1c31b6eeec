/** Details of an expanded queue: its settings, its workers and its charts. */
import { useOverrides } from '../../api/overrides.ts'
import type { Queue, QueueAndCounts, UnservedKind } from '../../api/types.ts'
import { Fact, Facts } from '../../kit/card.tsx'
import { number, plural, span } from '../../kit/text/format.ts'
import { Overridden } from '../../kit/overrides/overridden.tsx'
import { OverridesCard } from '../../kit/overrides/overrides-card.tsx'
import { GroupsCard, hasGroups } from './groups/groups-card.tsx'
import { QueueCharts } from './queue-charts.tsx'
import { RETAINED } from './queue-form.ts'
import { ServerList } from './served-by.tsx'
import type { Server } from './serving.ts'

interface Props {
  readonly queue: QueueAndCounts
  readonly servers: readonly Server[]
  readonly unservedKinds: readonly UnservedKind[]
}

export function QueueDetails({ queue, servers, unservedKinds }: Props) {
  const { settings } = queue
  const overrides = useOverrides('queue', settings.name)
  return (
    <>
      {hasGroups(settings) && (
        <div className="mb-6">
          <GroupsCard queue={settings} />
        </div>
      )}
      <div className="grid gap-6 xl:grid-cols-[20rem_1fr]">
        <div className="flex min-w-0 flex-col gap-4">
          <Facts>
            <Fact name="Served by">
              <ServerList servers={servers} />
            </Fact>
            {unservedKinds.length > 0 && (
              <Fact name="No worker for">
                {unservedKinds.map(({ kind, minVersion, jobs }) => (
                  <p key={`${kind} ${minVersion}`} className="text-dead">
                    <span className="font-mono text-xs break-all">{kind}</span>
                    {minVersion !== null && ` (version ${minVersion} or later)`}, {plural(jobs, 'job')}
                  </p>
                ))}
              </Fact>
            )}
            <Fact name="Workers">
              <Overridden override={overrides.get('workers')}>
                {settings.workers === null
                  ? 'automatic: 10 in each process'
                  : `${number(settings.workers)} total`}
              </Overridden>
            </Fact>
            {settings.targetLatencyMs !== null && (
              <Fact name="Target latency">
                <Overridden override={overrides.get('targetLatency')}>
                  {span(settings.targetLatencyMs)}
                </Overridden>
              </Fact>
            )}
            <Fact name="Backoff">
              {settings.backoffEnabled
                ? `initial ${span(settings.backoffBaseMs)}, max ${span(settings.backoffMaxMs)}`
                : 'off'}
              {settings.throttles > 0 && `, recently throttled ${plural(settings.throttles, 'time')}`}
              {['backoff.enabled', 'backoff.base', 'backoff.max'].map((option) => (
                <Overridden key={option} override={overrides.get(option)} />
              ))}
            </Fact>
            {hasGroups(settings) && (
              <Fact name="Groups">
                {groupsText(settings)}
                {['fair', 'concurrency', 'rate', 'per'].map((option) => (
                  <Overridden key={option} override={overrides.get(`groups.${option}`)} />
                ))}
              </Fact>
            )}
            {RETAINED.map(([state, age, most]) => (
              <Fact key={state} name={`Retention: ${state}`}>
                {keptFor(settings[age], settings[most])}
                <Overridden override={overrides.get(`retain.${state}`)} />
                <Overridden override={overrides.get(`retain.${state}.most`)} />
              </Fact>
            ))}
          </Facts>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <OverridesCard what="queue" name={settings.name} />
          <QueueCharts queue={settings.name} />
        </div>
      </div>
    </>
  )
}

/** "take turns, at most 2 running each, 10 per 1 s each" */
function groupsText({ groupFair, groupConcurrency, groupRate, groupRatePerMs }: Queue): string {
  const parts = [
    ...(groupFair ? ['take turns'] : []),
    ...(groupConcurrency === null ? [] : [`at most ${number(groupConcurrency)} running each`]),
    ...(groupRate === null ? [] : [`${number(groupRate)} per ${span(groupRatePerMs ?? 0)} each`]),
  ]
  return parts.join(', ')
}

function keptFor(ms: number | null, most: number | null): string {
  const age = ms === null ? 'forever' : span(ms)
  return most === null ? age : `${age}, at most ${number(most)}`
}
