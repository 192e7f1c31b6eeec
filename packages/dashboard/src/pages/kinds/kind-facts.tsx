/** Where the jobs of a kind run, what enqueues them on a schedule, and which processes handle them. */
import type { ReactNode } from 'react'
import { useKinds, useSchedules, useWorkers } from '../../api/reads.ts'
import type { Instance, Kind } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { number, shortId } from '../../kit/text/format.ts'
import { isClaiming } from '../../metrics/workers.ts'

interface Props {
  readonly kind: string
  /** Undefined for a kind that no running process knows. */
  readonly known: Kind | undefined
}

export function KindFacts({ kind, known }: Props) {
  const isPending = [useKinds(), useSchedules(), useWorkers()].some((read) => read.isPending)
  const schedules = (useSchedules().data?.schedules ?? []).filter((one) => one.kind === kind)
  const serving = (useWorkers().data?.instances ?? []).filter(
    (one) => isClaiming(one) && one.kinds.includes(kind),
  )
  const { queue, maxAttempts } = known ?? { queue: null, maxAttempts: null }
  if (isPending)
    return (
      <Card title="Details">
        <Skeleton shape="facts" />
      </Card>
    )
  return (
    <Card title="Details">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 md:grid-cols-4">
        <Fact name="Queue">
          {queue === null ? (
            <span className="text-soft">unknown to this process</span>
          ) : (
            <TextLink to={`/queues#${encodeURIComponent(queue)}`} className="wrap-anywhere">
              {queue}
            </TextLink>
          )}
        </Fact>
        <Fact name="Max attempts">{maxAttempts === null ? '–' : number(maxAttempts)}</Fact>
        <Fact name="Schedules">
          <List
            none="none"
            items={schedules.map(({ name }) => [name, `/schedules/${encodeURIComponent(name)}`, ''])}
          />
        </Fact>
        <Fact name="Handled by">
          <List
            none="no worker"
            items={serving.map((one) => [one.label ?? shortId(one.id), '/workers', versionOf(one)])}
          />
        </Fact>
      </dl>
    </Card>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  )
}

function versionOf({ version }: Instance): string {
  return version === null ? '' : `version ${version}`
}

function List({
  items,
  none,
}: {
  readonly items: readonly (readonly [text: string, to: string, note: string])[]
  readonly none: string
}) {
  if (items.length === 0) return <span className="text-soft">{none}</span>
  return (
    <ul>
      {items.map(([text, to, note]) => (
        <li key={text} className="wrap-anywhere">
          <TextLink to={to}>{text}</TextLink> <span className="text-xs text-soft">{note}</span>
        </li>
      ))}
    </ul>
  )
}
