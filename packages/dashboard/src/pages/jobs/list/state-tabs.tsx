/** Tabs by state, with the number of jobs in the chosen queue, or in all queues. */
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { useOverview } from '../../../api/reads.ts'
import { STATES } from '../../../api/states.ts'
import type { Counts, QueueAndCounts } from '../../../api/types.ts'
import { classes } from '../../../kit/classes.ts'
import { compact, plural } from '../../../kit/text/format.ts'
import { toSearch } from '../filter/address.ts'
import { chipsOf } from '../filter/chips.ts'
import type { Filter } from '../filter/filter.ts'

export function StateTabs({ filter }: { readonly filter: Filter }) {
  const counts = useCounts(filter.queue)
  const here = useRef<HTMLAnchorElement>(null)
  const isCounted = counts !== null
  // The tabs do not all fit on a phone, and counts make them wider.
  useEffect(() => {
    here.current?.scrollIntoView({ block: 'nearest', inline: 'center' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [filter.state, isCounted])
  // The counts are per queue. With a narrower filter, they would seem to count the jobs that match it.
  const isCountable = chipsOf({ ...filter, state: null, queue: null }).length === 0
  const where = filter.queue === null ? 'in all queues' : `in ${filter.queue}`
  return (
    <nav aria-label="States" className="-mx-1 flex gap-1 overflow-x-auto px-1 py-1">
      {[null, ...STATES].map((state) => {
        const isHere = filter.state === state
        const count = counts === null || !isCountable ? null : state === null ? all(counts) : counts[state]
        return (
          <Link
            key={state ?? 'all'}
            href={`/jobs?${toSearch({ ...filter, state })}`}
            aria-current={isHere ? 'page' : undefined}
            ref={isHere ? here : undefined}
            title={count === null ? undefined : `${plural(count, 'job')} ${where}`}
            className={classes(
              'flex h-8 items-center gap-1.5 rounded-md px-2.5 whitespace-nowrap',
              isHere ? 'bg-accent-soft font-medium text-text' : 'text-soft hover:bg-sunk hover:text-text',
            )}
          >
            {state ?? 'all'}
            {count !== null && (
              <span
                className={classes(
                  'text-xs tabular-nums',
                  state === 'dead' && count > 0 ? 'font-semibold text-dead' : 'text-soft',
                )}
              >
                {compact(count)}
              </span>
            )}
          </Link>
        )
      })}
    </nav>
  )
}

export type Sums = Omit<Counts, 'queue' | 'oldestReadyMs'>

/** Counts of one queue, or of all; null while loading. */
export const useCounts = (queue: string | null): Sums | null => useCountsOf()(queue)

export function useCountsOf(): (queue: string | null) => Sums | null {
  const { data } = useOverview()
  return (queue) => (data === undefined ? null : sumsOf(data.queues, queue))
}

function sumsOf(queues: readonly QueueAndCounts[], queue: string | null): Sums {
  const meant = queues.filter(({ settings }) => queue === null || settings.name === queue)
  return Object.fromEntries(
    STATES.map((state) => [state, meant.reduce((sum, { counts }) => sum + counts[state], 0)]),
  ) as unknown as Sums
}

const all = (counts: Sums): number => STATES.reduce((sum, state) => sum + counts[state], 0)
