/** All lifecycle events, and the check of a name that a caller passes. */
import { JobmillError, quote } from '../job/errors.ts'
import type { EventType } from '../job/events.ts'
import { nearest } from '../job/options/known-keys.ts'
import { eventHint } from '../job/other-libraries/states-and-events.ts'

/**
 * Whether the timeline keeps an event. A record instead of a list, so that the compiler requires a decision
 * for every new event.
 */
export const IN_TIMELINE: Readonly<Record<EventType, boolean>> = {
  enqueued: false,
  'kind-unknown': true,
  'queue-unknown': true,
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

const EVENT_TYPES = Object.keys(IN_TIMELINE) as readonly EventType[]

/** Refuses the name of an event that does not exist: its listener would never be called. */
export function checkEventType(type: string): void {
  if (type === '*' || Object.hasOwn(IN_TIMELINE, type)) return
  const all = `Use one of: *, ${EVENT_TYPES.join(', ')}`
  const near = nearest(type, EVENT_TYPES)
  const meant = eventHint(type) ?? (near === undefined ? undefined : `Did you mean "${near}"?`)
  throw new JobmillError('OPTION_INVALID', 'is not an event', {
    field: 'type',
    value: quote(type),
    fix: meant === undefined ? all : `${meant} ${all}`,
  })
}
