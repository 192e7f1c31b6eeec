/** Maps options between their names in user code and in stores: `retain.done` is `retainDoneMs`. */
import { durationText } from '../duration.ts'
import type { ConcurrencySettings, RateParts } from '../limit/limit.ts'
import type { Overridable } from '../queue/overrides.ts'
import type { QueueSettings } from '../queue/queue-settings.ts'
import type { ScheduleDefinition } from '../schedule/schedule.ts'

interface Option {
  readonly name: string
  readonly write: (value: unknown) => unknown
}

type LimitOption = Exclude<keyof RateParts | keyof ConcurrencySettings, 'type'>

const plain = (name: string): Option => ({ name, write: (value) => value })
const duration = (name: string, none: unknown = null): Option => ({
  name,
  write: (value) => (typeof value === 'number' ? durationText(value) : none),
})
const instant = (name: string): Option => ({
  name,
  write: (value) => (typeof value === 'number' ? new Date(value).toISOString() : null),
})

const QUEUE: Readonly<Record<keyof QueueSettings, Option>> = {
  workers: plain('workers'),
  paused: plain('paused'),
  backoffEnabled: plain('backoff.enabled'),
  backoffBaseMs: duration('backoff.base'),
  backoffMaxMs: duration('backoff.max'),
  retainDoneMs: duration('retain.done', 'forever'),
  retainCancelledMs: duration('retain.cancelled', 'forever'),
  retainDeadMs: duration('retain.dead', 'forever'),
  keepDone: plain('retain.done.most'),
  keepCancelled: plain('retain.cancelled.most'),
  keepDead: plain('retain.dead.most'),
  limit: plain('limit'),
  targetLatencyMs: duration('targetLatency'),
  groupFair: plain('groups.fair'),
  groupConcurrency: plain('groups.concurrency'),
  groupRate: plain('groups.rate'),
  groupRatePerMs: duration('groups.per'),
}

const LIMIT: Readonly<Record<LimitOption, Option>> = {
  amount: plain('rate'),
  perMs: duration('per'),
  burst: plain('burst'),
  perKey: plain('perKey'),
  most: plain('concurrency'),
}

const SCHEDULE: Readonly<Record<keyof ScheduleDefinition | 'deleted', Option>> = {
  when: plain('when'),
  zone: plain('zone'),
  jitterMs: duration('jitter'),
  startAt: instant('start'),
  endAt: instant('end'),
  missed: plain('missed'),
  missedWithinMs: duration('missed.all'),
  overlap: plain('overlap'),
  paused: plain('paused'),
  kind: plain('job'),
  queue: plain('queue'),
  payload: {
    name: 'payload',
    write: (value) => (typeof value === 'string' ? JSON.parse(value) : null) as unknown,
  },
  priority: plain('priority'),
  maxAttempts: plain('maxAttempts'),
  timeoutMs: duration('timeout'),
  tags: plain('tags'),
  deleted: plain('deleted'),
}

const OPTIONS: Readonly<Record<Overridable, Readonly<Record<string, Option>>>> = {
  queue: QUEUE,
  limit: LIMIT,
  schedule: SCHEDULE,
}

export function optionName(what: Overridable, key: string): string {
  return OPTIONS[what][key]?.name ?? key
}

/** A value as users write it: durations and instants as text, unlimited retention as `'forever'`. */
export function optionValue(what: Overridable, key: string, value: unknown): unknown {
  return OPTIONS[what][key]?.write(value) ?? null
}

export function optionNames(what: Overridable): string[] {
  return Object.values(OPTIONS[what]).map(({ name }) => name)
}

/** The store names of an option and of all options below it: `retain` has no value of its own. */
export function optionKeys(what: Overridable, option: string): string[] {
  return Object.entries(OPTIONS[what]).flatMap(([key, { name }]) =>
    name === option || name.startsWith(`${option}.`) ? [key] : [],
  )
}
