/**
 * One error group: its shape, counts, and when it was first and last seen. Expands to details and actions.
 */
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import type { ErrorGroup } from '../../api/types.ts'
import { classes } from '../../kit/classes.ts'
import { number, span } from '../../kit/text/format.ts'
import { Bars } from '../../kit/charts/sparkline.tsx'
import { RoughlyAgo } from '../../kit/text/time.tsx'
import { COLUMNS } from './columns.ts'
import { ErrorGroupDetail } from './error-group-detail.tsx'
import type { ErrorSearch } from './group-texts.ts'
import { RetryGroupButton } from './retry-group.tsx'
import { ShapeText } from './shape-text.tsx'

interface Props {
  readonly group: ErrorGroup
  readonly bucketMs: number
  /** What the page is filtered by. */
  readonly search: ErrorSearch
  readonly isOpen: boolean
  readonly turn: () => void
  /** Below the details of an expanded group. */
  readonly children?: ReactNode
}

export function ErrorGroupRow({ group, bucketMs, search, isOpen, turn, children }: Props) {
  const detail = useId()
  const over = group.over.map(({ jobs }) => jobs)
  return (
    <li className={classes(isOpen && 'bg-sunk/40')}>
      <div className={classes('items-center px-4 py-2.5 hover:bg-sunk/60', COLUMNS)}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={detail}
          onClick={turn}
          className="flex w-full min-w-0 items-start gap-2 text-left"
        >
          <ChevronRight
            aria-hidden
            className={classes(
              'mt-0.5 size-4 shrink-0 text-soft transition-transform',
              isOpen && 'rotate-90',
            )}
          />
          <span className="min-w-0 grow">
            <span className={classes('font-medium break-words', isOpen ? 'block' : 'line-clamp-2')}>
              <ShapeText shape={group.shape} />
            </span>
            <span className="mt-0.5 flex gap-1 text-xs text-soft" title={group.queues.join(', ')}>
              <span className="truncate">
                {group.folded > 0 && `${number(group.folded)} similar errors · `}
                {group.kind} in {group.queues.join(', ')}
                {group.frame !== null && ` · ${group.frame}`}
              </span>
              {group.newIn !== null && (
                <b className="shrink-0 font-medium text-dead">· new in {group.newIn}</b>
              )}
            </span>
          </span>
        </button>
        <div className="mt-2 flex flex-wrap items-center gap-x-5 gap-y-1 pl-6 lg:contents">
          <Bars label={`Jobs over time, one bar per ${span(bucketMs)}: ${over.join(', ')}`} values={over} />
          <Count name="Dead" isBad n={group.dead} />
          <Count name="Retrying" n={group.failing} />
          <Seen name="First seen">
            <RoughlyAgo at={group.firstAt} />
          </Seen>
          <Seen name="Last seen">
            <RoughlyAgo at={group.lastAt} />
          </Seen>
          <RetryGroupButton group={group} search={search} />
        </div>
      </div>
      <div id={detail} hidden={!isOpen}>
        {isOpen && <ErrorGroupDetail group={group} range={search.range} />}
        {isOpen && children}
      </div>
    </li>
  )
}

function Count({ name, n, isBad = false }: { name: string; n: number; isBad?: boolean }) {
  return (
    <span className="whitespace-nowrap tabular-nums lg:text-right">
      <span className="mr-1 text-xs text-soft lg:sr-only">{name}</span>
      <span className={classes(n === 0 ? 'text-soft' : isBad && 'font-medium text-dead')}>{number(n)}</span>
    </span>
  )
}

function Seen({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span className="whitespace-nowrap lg:text-right">
      <span className="mr-1 text-xs text-soft lg:sr-only">{name}</span>
      {children}
    </span>
  )
}
