/**
 * Writes the limits, queues, schedules and alert rules of the code to the database. Does not change
 * overrides.
 */
import { invalidValue, isJobmillError, type JobmillError, quote } from '../job/errors.ts'
import { nearest } from '../job/options/known-keys.ts'
import { perKeyOnQueue } from '../store/cluster-errors.ts'
import type { FullStore } from '../store/store.ts'
import { declareAlerts } from './alerts/alerts.ts'
import type { Resolved } from './options/options.ts'

type Declared = Pick<Resolved, 'limits' | 'declared' | 'schedules' | 'alerts'>

/** `missing` writes only what a restored database lacks, so that it keeps the values of a later release. */
export type Declares = 'all' | 'missing'

/**
 * Runs when the store is opened, so that even a process that never starts can change settings. A refused
 * start changes nothing: the payloads of schedules are checked first, then one call writes limits and queues,
 * which refer to each other. No store refuses the later calls.
 */
export async function declare(store: FullStore, options: Declared, which: Declares): Promise<void> {
  const { limits, declared, schedules, alerts } = which === 'all' ? options : await missing(store, options)
  for (const { fits } of schedules) await fits
  if (limits.length + declared.length > 0)
    await declareTogether(store, limits, declared).catch(async (error: unknown) => {
      await throwForQueue(error, { limits, declared }, store)
      await throwForLimit(error, limits, store)
    })
  if (schedules.length > 0)
    await store.schedules.declare(
      schedules.map(({ name, version, definition }) => ({ name, version, definition })),
    )
  if (alerts.length > 0) await declareAlerts(store.alerts, alerts)
}

/** A store may have no limits. */
function declareTogether(
  store: FullStore,
  limits: Declared['limits'],
  queues: Declared['declared'],
): Promise<void> {
  return limits.length > 0 ? store.limits.declare(limits, queues) : store.queues.declare(queues)
}

/** The store knows which limit became a limit per key, but not why a queue uses it. */
async function throwForLimit(error: unknown, limits: Declared['limits'], store: FullStore): Promise<never> {
  if (!isJobmillError(error) || error.code !== 'OPTION_CONFLICT') throw error
  const limit = limits.find(({ name }) => quote(name) === error.value)?.name
  const queue = (await store.queues.list()).find((one) => one.limit !== null && one.limit === limit)?.name
  if (limit === undefined || queue === undefined) throw error
  const override = (await store.overrides.list()).find(
    ({ what, name, option }) => what === 'queue' && name === queue && option === 'limit',
  )
  throw perKeyOnQueue(
    limit,
    `queues.${queue}.limit`,
    override === undefined
      ? `Deploy a release first in which queue ${quote(queue)} does not use this limit, or keep the limit without perKey`
      : `Run "jobmill overrides reset queue ${queue} limit" (override by ${override.by ?? 'an operator'}), or keep the limit without perKey`,
  )
}

/**
 * Throws for a queue in code that names the limit of the error. The store knows which limit is missing or per
 * key, but not where code names it.
 */
async function throwForQueue(
  error: unknown,
  { limits, declared }: Pick<Declared, 'limits' | 'declared'>,
  store: FullStore,
): Promise<void> {
  if (!isJobmillError(error) || !['LIMIT_UNKNOWN', 'OPTION_CONFLICT'].includes(error.code)) return
  const queue = declared.find(({ settings }) => quote(settings?.limit) === error.value)
  if (queue === undefined) return
  const [limit, field] = [queue.settings?.limit ?? '', `queues.${queue.name}.limit`]
  throw error.code === 'LIMIT_UNKNOWN'
    ? await limitOfQueueUnknown(store, limit, field, limits)
    : perKeyOnQueue(limit, field)
}

/**
 * For a queue that names an unknown limit. Suggests the nearest name in the database or in `declared`. Omits
 * the error of the store as its cause: Node prints causes, and that one says the same with less detail.
 */
export async function limitOfQueueUnknown(
  store: FullStore,
  limit: string,
  field: string,
  declared: Declared['limits'] = [],
): Promise<JobmillError> {
  // Without the names the error is still correct.
  const known = [...declared, ...(await store.limits.list().catch(() => []))].map(({ name }) => name)
  const near = nearest(limit, known)
  const fix = {
    code: 'limit.create' as const,
    ...(near !== undefined && { first: `Did you mean "${near}"?` }),
  }
  return invalidValue(field, limit, 'no limit has this name', fix, 'LIMIT_UNKNOWN')
}

/** Declares the queues that an instance serves, even if code does not configure them. */
export async function declareServed(store: FullStore, served: readonly string[]): Promise<void> {
  await store.queues.declare(served.map((name) => ({ name, settings: null })))
}

async function missing(store: FullStore, options: Declared): Promise<Declared> {
  return {
    limits: without(options.limits, await store.limits.list()),
    // A job that was enqueued since has created its queue, but without the settings from code.
    declared: options.declared.map((queue) => ({ ...queue, unlessDeclared: true })),
    schedules: options.schedules.length === 0 ? [] : without(options.schedules, await storedSchedules(store)),
    alerts: options.alerts.length === 0 ? [] : without(options.alerts, await store.alerts.list()),
  }
}

/** A schedule deleted by an operator is not missing: its row still holds the declaration from code. */
async function storedSchedules(store: FullStore): Promise<Named[]> {
  const overrides = await store.overrides.list()
  return [...(await store.schedules.list()), ...overrides.filter(({ what }) => what === 'schedule')]
}

interface Named {
  readonly name: string
}

function without<T extends Named>(all: readonly T[], known: readonly Named[]): T[] {
  return all.filter((one) => !known.some(({ name }) => name === one.name))
}
