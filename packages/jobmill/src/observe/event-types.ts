/** The names of all lifecycle events, and the check of a name that a caller passes. */
import { JobmillError, quote } from '../job/errors.ts'
import type { EventType } from '../job/events.ts'
import { nearest } from '../job/known-keys.ts'
import { eventHint } from '../job/other-libraries.ts'

/** A record, so that the compiler finds a missing name. */
const TYPES: Readonly<Record<EventType, true>> = {
  enqueued: true,
  'kind-unknown': true,
  'queue-unknown': true,
  duplicate: true,
  started: true,
  progress: true,
  finished: true,
  retried: true,
  snoozed: true,
  throttled: true,
  'timed-out': true,
  cancelled: true,
  dead: true,
  interrupted: true,
  released: true,
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
  'duty-started': true,
  'duty-stopped': true,
  'duty-done': true,
  'duty-failing': true,
  'duty-back': true,
  leading: true,
  led: true,
  rebalanced: true,
  'mill-started': true,
  'mill-stopping': true,
  'grace-expired': true,
  'mill-stopped': true,
}

const EVENT_TYPES = Object.keys(TYPES) as readonly EventType[]

/** Refuses the name of an event that does not exist: its listener would never be called. */
export function checkEventType(type: string): void {
  if (type === '*' || Object.hasOwn(TYPES, type)) return
  const all = `Use one of: *, ${EVENT_TYPES.join(', ')}`
  const near = nearest(type, EVENT_TYPES)
  const meant = eventHint(type) ?? (near === undefined ? undefined : `Did you mean "${near}"?`)
  throw new JobmillError('OPTION_INVALID', 'is not an event', {
    field: 'type',
    value: quote(type),
    fix: meant === undefined ? all : `${meant} ${all}`,
  })
}
