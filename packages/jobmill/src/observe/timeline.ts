/** Keeps the events that no job and no attempt tells until they are written. When too many wait, further ones are dropped and counted. */
import { DEFAULTS } from '../job/defaults.ts'
import { errorText, storableText } from '../job/error-text.ts'
import type { EventTable, EventType } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'
import type { NewTimelineEvent } from '../store/metrics.ts'
import type { Tap } from './event-hub.ts'

export interface KeptEvent extends Omit<NewTimelineEvent, 'agoMs'> {
  /** On the monotonic clock. */
  readonly at: number
}

export interface Timeline {
  readonly keep: Tap
  /** The oldest, at most so many. They are no longer here then. */
  readonly take: (most: number) => KeptEvent[]
  readonly isEmpty: () => boolean
  /** How many did not fit, so far. */
  readonly dropped: () => number
}

/** A record and not a list: whoever adds an event has to say whether it is kept. */
const KEPT: Readonly<Record<EventType, boolean>> = {
  enqueued: false,
  'kind-unknown': true,
  duplicate: false,
  started: false,
  progress: false,
  finished: false,
  retried: false,
  snoozed: false,
  throttled: false,
  'timed-out': false,
  cancelled: false,
  dead: false,
  interrupted: false,
  released: false,
  'lease-lost': true,
  stuck: true,
  'queue-cooling': true,
  'queue-resumed': true,
  'queue-changed': true,
  'settings-differ': true,
  'limit-drained': true,
  'schedule-fired': true,
  'schedule-missed': true,
  'schedule-failing': true,
  reaped: true,
  'leases-found': true,
  'instance-lost': true,
  'instance-back': true,
  'store-failing': true,
  'store-back': true,
  'duty-started': false,
  'duty-stopped': false,
  'duty-done': false,
  'duty-failing': true,
  'duty-back': true,
  leading: true,
  led: true,
  rebalanced: true,
  'mill-started': true,
  'mill-stopping': true,
  'grace-expired': false,
  'mill-stopped': true,
}

/** Rows about what somebody did by hand stand in the timeline too; no process tells them as an event. */
export const AUDIT = 'audit'

/** The types of what stands in the timeline. */
export const KEPT_TYPES: readonly string[] = [
  ...(Object.keys(KEPT) as EventType[]).filter((type) => KEPT[type]),
  AUDIT,
]

/** Of a longer list only so many are kept. */
const MOST_LISTED = 100

export function timeline(platform: Platform, limit: number = DEFAULTS.eventBuffer): Timeline {
  const waiting: KeptEvent[] = []
  let dropped = 0

  function add(type: EventType, fields: object): void {
    if (waiting.length >= limit) dropped += 1
    else waiting.push({ type, at: platform.monotonic(), ...split(fields) })
  }

  return {
    keep(type, event) {
      if (!KEPT[type]) return
      if (type !== 'reaped') return add(type, event)
      for (const part of perQueue(event as EventTable['reaped'])) add(type, part)
    },
    take: (most) => waiting.splice(0, most),
    isEmpty: () => waiting.length === 0,
    dropped: () => dropped,
  }
}

/** A process may die with thousands of jobs, and their attempts tell of each: here is how many there were, by queue. */
function perQueue({ instances, jobs }: EventTable['reaped']): object[] {
  if (jobs.length === 0) return [{ instances, jobs: 0 }]
  const counts = new Map<string, number>()
  for (const { queue } of jobs) counts.set(queue, (counts.get(queue) ?? 0) + 1)
  return [...counts].map(([queue, n]) => ({ queue, instances, jobs: n }))
}

function split(fields: object): Pick<KeptEvent, 'queue' | 'job' | 'data'> {
  const { queue = null, id: job = null, ...rest } = fields as { queue?: string; id?: string }
  return { queue, job, data: JSON.stringify(rest, storable) }
}

/** Now, not when it is written: an error may hold on to much, and must not make the writing fail. */
function storable(key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (key === 'error') return errorText(value)
  return Array.isArray(value) ? value.slice(0, MOST_LISTED) : value
}
