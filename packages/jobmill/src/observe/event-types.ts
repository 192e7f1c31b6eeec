/** All lifecycle events with their log levels, and the check of a name that a caller passes. */
import type { LogLevel } from '../job/context.ts'
import { invalidValue } from '../job/errors.ts'
import type { EventType } from '../job/events.ts'
import { nearest } from '../job/options/known-keys.ts'
import { eventHint } from '../job/other-libraries/states-and-events.ts'

interface EventRule {
  /** The level of its log line. */
  readonly level: LogLevel
  /** Whether the timeline keeps it. */
  readonly isKept?: boolean
}

/** A record instead of a list, so that the compiler requires a decision for every new event. */
export const EVENTS: Readonly<Record<EventType, EventRule>> = {
  enqueued: { level: 'debug' },
  'kind-unknown': { level: 'warn', isKept: true },
  'queue-unknown': { level: 'warn', isKept: true },
  duplicate: { level: 'debug' },
  started: { level: 'debug' },
  progress: { level: 'debug' },
  finished: { level: 'debug' },
  retried: { level: 'warn' },
  parked: { level: 'debug' },
  'step-recorded': { level: 'debug' },
  'step-failed': { level: 'debug' },
  'steps-unused': { level: 'warn', isKept: true },
  snoozed: { level: 'debug' },
  throttled: { level: 'debug' },
  'timed-out': { level: 'warn' },
  cancelled: { level: 'debug' },
  dead: { level: 'error' },
  interrupted: { level: 'debug' },
  released: { level: 'debug' },
  'lease-lost': { level: 'warn', isKept: true },
  stuck: { level: 'warn', isKept: true },
  'queue-cooling': { level: 'warn', isKept: true },
  'queue-resumed': { level: 'info', isKept: true },
  'queue-changed': { level: 'info', isKept: true },
  'settings-differ': { level: 'warn', isKept: true },
  'limit-drained': { level: 'warn', isKept: true },
  'schedule-fired': { level: 'debug', isKept: true },
  'schedule-missed': { level: 'warn', isKept: true },
  'schedule-failing': { level: 'error', isKept: true },
  reaped: { level: 'warn', isKept: true },
  'leases-found': { level: 'warn', isKept: true },
  'instance-lost': { level: 'error', isKept: true },
  'instance-back': { level: 'info', isKept: true },
  'store-failing': { level: 'error', isKept: true },
  'store-back': { level: 'info', isKept: true },
  'duty-started': { level: 'info' },
  'duty-stopped': { level: 'debug' },
  'duty-done': { level: 'info' },
  'duty-failing': { level: 'error', isKept: true },
  'duty-back': { level: 'info', isKept: true },
  leading: { level: 'info', isKept: true },
  led: { level: 'info', isKept: true },
  rebalanced: { level: 'info', isKept: true },
  'mill-started': { level: 'info', isKept: true },
  'mill-quiet': { level: 'info', isKept: true },
  'mill-resumed': { level: 'info', isKept: true },
  'stop-requested': { level: 'info', isKept: true },
  'mill-stopping': { level: 'info', isKept: true },
  'grace-expired': { level: 'warn' },
  'mill-stopped': { level: 'info', isKept: true },
}

export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[]

/** Refuses the name of an event that does not exist: its listener would never be called. */
export function checkEventType(type: string): void {
  if (type === '*' || Object.hasOwn(EVENTS, type)) return
  const all = `Use one of: *, ${EVENT_TYPES.join(', ')}`
  const near = nearest(type, EVENT_TYPES)
  const meant = eventHint(type) ?? (near === undefined ? undefined : `Did you mean "${near}"?`)
  throw invalidValue('type', type, 'is not an event', meant === undefined ? all : `${meant} ${all}`)
}
