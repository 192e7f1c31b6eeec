/** The optional columns of the job list: names and cells. */
import type { ReactNode } from 'react'
import type { JobSummary } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { classes } from '../../../kit/classes.ts'
import { number, shortId, span } from '../../../kit/text/format.ts'
import { RoughlyAgo, useNow } from '../../../kit/text/time.tsx'
import { Tip } from '../../../kit/overlays/tip.tsx'
import type { OptionalColumn } from './choices.ts'
import { groupAddress, toSearch } from '../filter/address.ts'
import { NO_FILTER } from '../filter/filter.ts'

interface About {
  /** The label of an instance. */
  readonly label: (instance: string) => string
}

interface Column {
  readonly name: string
  readonly right?: boolean
  readonly cell: (job: JobSummary, about: About) => ReactNode
}

export const COLUMNS: Readonly<Record<OptionalColumn, Column>> = {
  id: {
    name: 'Id',
    cell: ({ id }) => (
      <Tip text={id}>
        <span className="font-mono text-xs text-soft">{shortId(id)}</span>
      </Tip>
    ),
  },
  queue: {
    name: 'Queue',
    cell: ({ queue }) => (
      <TextLink
        to={`/jobs?${toSearch({ ...NO_FILTER, queue })}`}
        className="block max-w-32 truncate min-[90rem]:max-w-40"
      >
        <span title={queue}>{queue}</span>
      </TextLink>
    ),
  },
  priority: { name: 'Priority', right: true, cell: ({ priority }) => number(priority) },
  attempt: {
    name: 'Attempt',
    right: true,
    cell: ({ attempt, maxAttempts }) => `${number(attempt)} of ${number(maxAttempts)}`,
  },
  enqueued: { name: 'Enqueued', cell: ({ enqueuedAt }) => <Steady at={enqueuedAt} /> },
  when: { name: 'Timing', cell: (job) => <Turn {...job} /> },
  time: { name: 'Time', right: true, cell: (job) => <Took {...job} /> },
  tags: { name: 'Tags', cell: ({ tags }) => <Tags tags={tags} /> },
  orderKey: {
    name: 'Order key',
    cell: ({ orderKey }) => (
      <span className="block max-w-40 truncate font-mono text-xs" title={orderKey ?? undefined}>
        {orderKey ?? '–'}
      </span>
    ),
  },
  group: {
    name: 'Group',
    cell: ({ queue, group }) =>
      group === null ? (
        <span className="text-soft">–</span>
      ) : (
        <TextLink to={groupAddress(queue, group)} className="block max-w-40 truncate">
          <span title={group}>{group}</span>
        </TextLink>
      ),
  },
  instance: {
    name: 'Instance',
    cell: ({ instance }, { label }) =>
      instance === null ? (
        <span className="text-soft">–</span>
      ) : (
        <TextLink to="/workers" className="block max-w-40 truncate">
          <span title={instance}>{label(instance)}</span>
        </TextLink>
      ),
  },
}

/** Wide enough for most times, so that columns do not move while it counts. */
function Steady({ at }: { readonly at: number | null }) {
  return (
    <span className="inline-block min-w-20">
      <RoughlyAgo at={at} />
    </span>
  )
}

/** The next or the last transition of the job. */
function Turn(job: JobSummary) {
  const { state, dueAt, startedAt, endedAt, waitsForOrder, waitsForGroup, group, cancelReason } = job
  if (state === 'ready') return <span className="text-soft">ready</span>
  if (waitsForOrder) return <span className="text-soft">blocked by order key</span>
  if (waitsForGroup)
    return (
      <span className="block max-w-48 truncate text-soft" title={group ?? undefined}>
        waits for group {group}
      </span>
    )
  const [word, at] =
    endedAt !== null ? ['ended', endedAt] : startedAt !== null ? ['started', startedAt] : ['due', dueAt]
  return (
    <span className="whitespace-nowrap">
      <span className="text-soft">{word} </span>
      <Steady at={at} />
      {cancelReason !== null && <span className="text-soft">, cancellation requested</span>}
    </span>
  )
}

function Took({ state, enqueuedAt, startedAt, endedAt }: JobSummary) {
  if (endedAt !== null) return <Lasted ms={endedAt - enqueuedAt} says="From enqueue to end" />
  if (startedAt !== null) return <Lasting word="running" from={startedAt} says="Since the attempt started" />
  return <Lasting word="waiting" from={enqueuedAt} says={`Since enqueue (${state})`} />
}

interface Last {
  readonly word?: string
  readonly says: string
}

/** Durations that are still growing are shown in whole seconds. */
function Lasting({ from, ...rest }: Last & { readonly from: number }) {
  return <Lasted ms={Math.floor((useNow() - from) / 1_000) * 1_000} {...rest} />
}

function Lasted({ word, says, ms }: Last & { readonly ms: number }) {
  return (
    <Tip text={says}>
      <span>
        {word !== undefined && <span className="text-soft">{word} </span>}
        {span(Math.max(0, ms))}
      </span>
    </Tip>
  )
}

const SHOWN_TAGS = 2
/** A narrow screen has room for one tag. */
const NARROW = 'min-[90rem]:hidden'
const WIDE = 'max-[90rem]:hidden'

function Tags({ tags }: { readonly tags: readonly string[] }) {
  if (tags.length === 0) return <span className="text-soft">–</span>
  return (
    <span className="flex items-center gap-1">
      {tags.slice(0, SHOWN_TAGS).map((tag, at) => (
        <TextLink
          key={tag}
          to={`/jobs?${toSearch({ ...NO_FILTER, tags: [tag] })}`}
          className={classes(
            'max-w-20 truncate rounded bg-sunk px-1.5 text-xs min-[90rem]:max-w-28',
            at > 0 && WIDE,
          )}
        >
          <span title={tag}>{tag}</span>
        </TextLink>
      ))}
      <MoreTags tags={tags.slice(1)} className={NARROW} />
      <MoreTags tags={tags.slice(SHOWN_TAGS)} className={WIDE} />
    </span>
  )
}

function MoreTags({ tags, className }: { readonly tags: readonly string[]; readonly className: string }) {
  if (tags.length === 0) return null
  return (
    <Tip text={tags.join(', ')}>
      <span className={classes('text-xs whitespace-nowrap text-soft', className)}>+{tags.length}</span>
    </Tip>
  )
}
