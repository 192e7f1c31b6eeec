/** Where the store differs from what the options of this process say: an operator changed it, or code did since it was created. */
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../job/queue-settings.ts'
import type { Store } from '../store/store.ts'
import type { Resolved } from './options.ts'

export interface Difference {
  readonly what: 'queue' | 'limit' | 'schedule'
  readonly name: string
  readonly field: string
  /** What code says, and what counts. */
  readonly code: unknown
  readonly stored: unknown
}

export async function differences(
  store: Pick<Store, 'queues' | 'limits' | 'schedules'>,
  { declared, limits }: Pick<Resolved, 'declared' | 'limits'>,
): Promise<Difference[]> {
  const [queues, known, schedules] = await Promise.all([store.queues(), store.limits(), store.schedules()])
  return [
    ...declared.flatMap(({ name, settings }) =>
      fields('queue', name, settings, queues.find((one) => one.name === name) ?? settings, QUEUE_FIELDS),
    ),
    ...limits.flatMap(({ name, settings }) => {
      const stored = known.find((one) => one.name === name)?.settings ?? settings
      return fields('limit', name, settings, stored, [
        ...new Set([...Object.keys(settings), ...Object.keys(stored)]),
      ])
    }),
    ...schedules.flatMap(({ name, code, operator, live }) =>
      code === null ? [] : fields('schedule', name, code, live, Object.keys(operator)),
    ),
  ]
}

const QUEUE_FIELDS = Object.keys(DEFAULT_QUEUE_SETTINGS) as (keyof QueueSettings)[]

function value(of: object, field: string): unknown {
  return (of as Record<string, unknown>)[field] ?? null
}

function fields(
  what: Difference['what'],
  name: string,
  code: object,
  stored: object,
  names: readonly string[],
): Difference[] {
  return names
    .map((field) => ({ what, name, field, code: value(code, field), stored: value(stored, field) }))
    .filter((one) => JSON.stringify(one.code) !== JSON.stringify(one.stored))
}
