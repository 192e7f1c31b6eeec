/** The limits of a mill: declarations, operations, and access from handlers. */
import { checkObjectKeys, didYouMean } from '../../job/options/known-keys.ts'
import {
  isPerKey,
  LIMIT_KEYS,
  type LimitOptions,
  type LimitParts,
  limitParts,
  type LimitSettings,
  rateRest,
} from '../../job/limit/limit.ts'
import type { DrainLimitOptions, LimitHandle, LimitInside, LimitOf } from '../../job/limit/limit-handle.ts'
import { checkName } from '../../job/names.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import type { Limits } from '../../limits/limits.ts'
import { limitExists, perKeyFixed, perKeyOnQueue } from '../../store/cluster-errors.ts'
import type { DeclaredLimit, LimitRecord } from '../../store/types/limit.ts'
import type { Attempt } from '../../work/attempt.ts'
import { checkLive } from '../../work/make-context.ts'
import { byOf, type ByOption } from './overrides.ts'
import type { Problems } from '../options/problems.ts'
import type { StoreAccess } from '../store-access.ts'

/** The option `limits`: `{ smtp: { rate: 50, per: '1m' }, db: { concurrency: 5 } }`. */
export function declaredLimits(
  limits: Readonly<Record<string, LimitOptions>>,
  found: Problems,
): DeclaredLimit[] {
  if (!found.names(limits, 'limits', "{ smtp: { rate: 50, per: '1m' } }")) return []
  return Object.entries(limits).flatMap(([name, options]) => {
    const at = `limits.${name}`
    if (!found.keys(options, at, LIMIT_KEYS)) return []
    const known = Object.fromEntries(Object.entries(options).filter(([key]) => LIMIT_KEYS.includes(key)))
    return found.try(at, [], () => [
      { name: checkName(name, at), settings: limitParts(known as unknown as LimitOptions, at) },
    ])
  })
}

/**
 * A queue may use a limit that an operator created, but a name close to a declared one is often a typo. A
 * queue cannot use a limit per key.
 */
export function checkQueueLimits(
  queues: readonly { readonly name: string; readonly settings: Partial<QueueSettings> }[],
  declared: readonly DeclaredLimit[],
  found: Problems,
): void {
  const names = declared.map(({ name }) => name)
  for (const { name, settings } of queues) {
    if (settings.limit === null || settings.limit === undefined) continue
    const known = declared.find((limit) => limit.name === settings.limit)
    if (known !== undefined && isPerKey(known.settings))
      found.try(`queues.${name}.limit`, undefined, () => {
        throw perKeyOnQueue(known.name, `queues.${name}.limit`)
      })
    if (known !== undefined) continue
    const hint = didYouMean(settings.limit, names, 'Declare it under limits, or create it before you start')
    const what = `is not defined in this process: "${settings.limit}". ${hint}`
    found.add('warning', 'LIMIT_UNKNOWN', `queues.${name}.limit`, what)
  }
}

/** Omitted options stay unchanged. */
export type LimitChange =
  | Partial<Extract<LimitOptions, { readonly rate: number }>>
  | { readonly concurrency: number }

interface MillLimits {
  /** Sorted by name, with what is available now. */
  list(): Promise<LimitRecord[]>
  /** Throws OPTION_CONFLICT when a limit of this name exists. */
  create(name: string, options: LimitOptions, how?: ByOption): Promise<LimitRecord>
  /**
   * Overrides the given options, immediately in every process. A deploy does not undo it;
   * `mill.resetOverrides` does.
   */
  change(name: string, change: LimitChange, how?: ByOption): Promise<LimitRecord>
  /** False when there is none. Throws while a queue uses it. */
  delete(name: string): Promise<boolean>
  /**
   * Grants nothing for a while: `{ retryAfter: '30s' }`. With `key`, only for that key of a limit per key.
   */
  drain(name: string, options?: DrainLimitOptions): Promise<LimitRecord>
}

export interface Limiting {
  readonly limits: MillLimits
  /** A limit outside of handlers, with the same budget. */
  readonly limit: (name: string, of?: LimitOf) => LimitHandle
}

export function limitsApi({ opened, by: us }: StoreAccess, limits: Limits): Limiting {
  async function find(name: string): Promise<LimitRecord | undefined> {
    return (await (await opened()).limits.list()).find((record) => record.name === name)
  }
  async function existing(name: string): Promise<LimitRecord> {
    const record = await find(checkName(name, 'limit'))
    if (record === undefined) throw await limits.unknown(name)
    return record
  }
  return {
    limit: limits.outside,
    limits: {
      list: async () => (await opened()).limits.list(),
      async create(name, options, how) {
        const by = byOf(how, us)
        const parts = limitParts(options, 'limit')
        if ((await find(checkName(name, 'name'))) !== undefined) throw limitExists(name)
        return (await opened()).limits.create(name, parts, by)
      },
      async change(name, change, how) {
        const by = byOf(how, us)
        const { settings } = await existing(name)
        return (await opened()).limits.change(name, changedParts(name, settings, change), by)
      },
      delete: async (name) => (await opened()).limits.delete(checkName(name, 'limit')),
      drain: limits.drain,
    },
  }
}

/** Only the given options. The rest stays as code or an override says. */
function changedParts(name: string, before: LimitSettings, change: LimitChange): LimitParts {
  checkObjectKeys(change, 'limit', LIMIT_KEYS)
  const perKey = isPerKey(before)
  if (perKey && 'concurrency' in change) throw perKeyFixed(name, perKey)
  if ('concurrency' in change || before.type === 'concurrency')
    return limitParts(change as LimitOptions, 'limit')
  if ('perKey' in change && change.perKey !== perKey) throw perKeyFixed(name, perKey)
  const { rate, ...rest } = change
  if (rate !== undefined) return limitParts({ ...rest, rate }, 'limit')
  return { type: 'rate', ...rateRest(rest, 'limit') }
}

/** `limit` of a handler. `settings` returns the live settings of a queue. */
export function limitFor(
  attempt: Attempt,
  limits: Limits,
  settings: (queue: string) => QueueSettings,
): LimitInside {
  // Created lazily: most handlers never use a limit, and this runs for each attempt.
  return {
    acquire: (name, draw) => drawingFor(attempt, limits, settings).acquire(name, draw),
    tryAcquire: (name, draw) => drawingFor(attempt, limits, settings).tryAcquire(name, draw),
    drain: (name, options) => drawingFor(attempt, limits, settings).drain(name, options),
  }
}

/** Each call may return a new object, because what the attempt holds is tracked by its lease. */
function drawingFor(
  attempt: Attempt,
  limits: Limits,
  settings: (queue: string) => QueueSettings,
): LimitInside {
  const { lease, signal } = attempt
  return limits.inside({
    lease,
    signal,
    checkLive: () => checkLive(attempt),
    queueLimit: () => settings(lease.queue).limit,
  })
}
