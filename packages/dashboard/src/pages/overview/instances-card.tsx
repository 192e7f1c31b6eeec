/** The processes at a glance: live ones, and those lost without a clean stop. */
import { useOverview } from '../../api/reads.ts'
import type { Instance } from '../../api/types.ts'
import { isClaiming } from '../../metrics/workers.ts'
import { LinkButton, TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { plural, shortId } from '../../kit/text/format.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Badge } from '../../kit/state.tsx'
import { Ago } from '../../kit/text/time.tsx'

const MOST = 6

/** `expired`: heartbeats stopped, and its jobs have not been reclaimed yet. */
const STATES = {
  alive: ['text-done', 'active'],
  expired: ['text-dead', 'expired'],
  lost: ['text-ready', 'lost'],
} as const

type ListedInstance = Instance & { readonly state: keyof typeof STATES }

/** What an operator requested of a live process comes before its state. */
function badgeOf({ state, requested }: ListedInstance): readonly [colour: string, text: string] {
  if (state !== 'alive' || requested === null) return STATES[state]
  return ['text-ready', requested === 'quiet' ? 'quiet' : 'stopping']
}

const isListed = (instance: Instance): instance is ListedInstance => instance.state !== 'stopped'
const RANK = { expired: 0, alive: 1, lost: 2 } as const

export function InstancesCard() {
  const read = useOverview()
  return (
    <Card
      title="Processes"
      tools={
        <LinkButton to="/workers" look="quiet">
          View workers
        </LinkButton>
      }
    >
      <DataView read={read} shape="list">
        {({ instances }) => {
          const listed = instances
            .filter(isListed)
            .toSorted((a, b) => RANK[a.state] - RANK[b.state] || b.startedAt - a.startedAt)
          return listed.length === 0 ? <NoProcesses /> : <Listed processes={listed} />
        }}
      </DataView>
    </Card>
  )
}

function NoProcesses() {
  return (
    <Empty title="No processes running">
      Start one with <code className="font-mono">jobmill work</code>, or call mill.start() in your program.
    </Empty>
  )
}

function Listed({ processes }: { readonly processes: readonly ListedInstance[] }) {
  const count = (state: ListedInstance['state']): number =>
    processes.filter((one) => one.state === state).length
  const quiet = count('alive') - processes.filter(isClaiming).length
  const parts = [
    `${processes.filter(isClaiming).length} active`,
    ...(quiet > 0 ? [`${quiet} quiet or stopping`] : []),
    ...(count('expired') > 0 ? [`${count('expired')} expired`] : []),
    `${count('lost')} lost`,
  ]
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft">{parts.join(', ')}</p>
      <ul className="flex flex-col gap-2">
        {processes.slice(0, MOST).map((instance) => (
          <li key={instance.id} className="flex items-center gap-3">
            <span className="w-20 shrink-0">
              <Badge colour={badgeOf(instance)[0]} text={badgeOf(instance)[1]} />
            </span>
            <span className="min-w-0 grow truncate" title={instance.label ?? instance.id}>
              {instance.label ?? shortId(instance.id)}
            </span>
            <span className="shrink-0 text-xs text-soft">
              {instance.state === 'alive' ? 'started ' : 'last seen '}
              <Ago at={instance.state === 'alive' ? instance.startedAt : instance.renewedAt} />
            </span>
          </li>
        ))}
      </ul>
      {processes.length > MOST && (
        <TextLink to="/workers">{plural(processes.length - MOST, 'more process', 'more processes')}</TextLink>
      )}
    </div>
  )
}
