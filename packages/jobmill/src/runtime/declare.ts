/** Writes what the options declare to the database. What is there already stays as it is. */
import { DEFAULT_QUEUE_SETTINGS } from '../job/queue-settings.ts'
import type { Store } from '../store/store.ts'
import type { Resolved } from './options.ts'

/**
 * When the store is opened, so that settings can be changed by a process that never starts; and when the instance is unknown to the database, which may have
 * been restored from a backup. Queues may name limits, so those come first.
 */
export async function declare(store: Store, options: Resolved): Promise<void> {
  const { limits, declared, schedules } = options
  if (limits.length > 0) await store.declareLimits(limits)
  if (declared.length > 0) await store.declareQueues(declared)
  for (const { fits } of schedules) await fits
  if (schedules.length > 0)
    await store.declareSchedules(
      schedules.map(({ name, version, definition }) => ({ name, version, definition })),
    )
}

/** Also the queues that an instance serves without declaring them. */
export async function declareServed(
  store: Store,
  { declared }: Resolved,
  served: readonly string[],
): Promise<void> {
  const named = new Set(declared.map(({ name }) => name))
  const plain = served.filter((name) => !named.has(name))
  const settings = DEFAULT_QUEUE_SETTINGS
  await store.declareQueues([...declared, ...plain.map((name) => ({ name, settings }))])
}
