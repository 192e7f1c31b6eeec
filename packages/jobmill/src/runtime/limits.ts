/** Limits of a mill: what code declares, what an operator can see and do, and how handlers reach them. */
import { JobmillError, shown } from '../job/errors.ts'
import { checkObjectKeys, nearest } from '../job/known-keys.ts'
import {
  defaultBurst,
  isPerKey,
  type LimitOptions,
  limitSettings,
  type LimitSettings,
  type RateSettings,
} from '../job/limit.ts'
import type { DrainLimitOptions, LimitHandle, LimitInside, LimitOf } from '../job/limit-handle.ts'
import { checkName } from '../job/names.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { Limits } from '../limits/limits.ts'
import { perKeyFixed, perKeyOnQueue } from '../store/cluster-errors.ts'
import type { LimitRecord } from '../store/limit.ts'
import type { Store } from '../store/store.ts'
import type { Attempt } from '../work/attempt.ts'
import { checkLive } from '../work/make-context.ts'
import type { Problems } from './problems.ts'

export interface DeclaredLimit {
  readonly name: string
  readonly settings: LimitSettings
}

const KEYS: readonly string[] = ['rate', 'per', 'burst', 'perKey', 'concurrency']

/** The option `limits`: `{ smtp: { rate: 50, per: '1m' }, db: { concurrency: 5 } }`. */
export function declaredLimits(
  limits: Readonly<Record<string, LimitOptions>>,
  found: Problems,
): DeclaredLimit[] {
  if (!found.names(limits, 'limits', "{ smtp: { rate: 50, per: '1m' } }")) return []
  return Object.entries(limits).flatMap(([name, options]) => {
    const at = `limits.${name}`
    if (!found.keys(options, at, KEYS)) return []
    const known = Object.fromEntries(Object.entries(options).filter(([key]) => KEYS.includes(key)))
    return found.try(at, [], () => [
      { name: checkName(name, at), settings: settingsOf(known as unknown as LimitOptions, at) },
    ])
  })
}

/** A queue may draw on a limit that an operator made; one that is nearly the name of a declared limit is often a typo. One for each key is of no use to it. */
export function checkQueueLimits(
  queues: readonly { readonly name: string; readonly settings: QueueSettings }[],
  declared: readonly DeclaredLimit[],
  found: Problems,
): void {
  const names = declared.map(({ name }) => name)
  for (const { name, settings } of queues) {
    if (settings.limit === null) continue
    const known = declared.find((limit) => limit.name === settings.limit)
    if (known !== undefined && isPerKey(known.settings))
      found.try(`queues.${name}.limit`, undefined, () => {
        throw perKeyOnQueue(known.name, `queues.${name}.limit`)
      })
    if (known !== undefined) continue
    const near = nearest(settings.limit, names)
    if (near === undefined) continue
    const what = `no limit of this process is called "${settings.limit}". Did you mean "${near}"?`
    found.add('warning', 'LIMIT_UNKNOWN', `queues.${name}.limit`, what)
  }
}

function settingsOf(options: LimitOptions, field: string): LimitSettings {
  if (typeof options === 'object' && options !== null && !('concurrency' in options || 'rate' in options)) {
    throw new JobmillError('OPTION_INVALID', 'has neither a rate nor a concurrency', {
      field,
      fix: "Give { rate: 50, per: '1m' } or { concurrency: 5 }",
    })
  }
  if (typeof options === 'object' && options !== null && 'concurrency' in options && 'rate' in options) {
    throw new JobmillError('OPTION_CONFLICT', 'has both a rate and a concurrency', {
      field,
      fix: 'Make two limits of it, and acquire both',
    })
  }
  return limitSettings(options, field)
}

/** What is left out stays as it is. */
export type LimitChange =
  | Partial<Extract<LimitOptions, { readonly rate: number }>>
  | { readonly concurrency: number }

export interface MillLimits {
  /** By name, with what could be taken now. */
  list(): Promise<LimitRecord[]>
  /** Refused with OPTION_CONFLICT when there is one of this name with other settings. */
  create(name: string, options: LimitOptions): Promise<LimitRecord>
  /** At once, in every process, and never overwritten by a start or a deploy. */
  change(name: string, change: LimitChange): Promise<LimitRecord>
  /** False when there is none. Refused while a queue draws on it. */
  delete(name: string): Promise<boolean>
  /** Nothing is granted for a while: `{ retryAfter: '30s' }`; with `key`, to that key of a limit for each. */
  drain(name: string, options?: DrainLimitOptions): Promise<LimitRecord>
}

export interface Limiting {
  readonly limits: MillLimits
  /** A limit outside of handlers: the same budget. */
  readonly limit: (name: string, of?: LimitOf) => LimitHandle
}

export interface LimitsApiTools {
  /** Opens it when that did not happen yet. */
  readonly opened: () => Promise<Store>
  readonly limits: Limits
}

export function limitsApi({ opened, limits }: LimitsApiTools): Limiting {
  async function find(name: string): Promise<LimitRecord | undefined> {
    return (await (await opened()).limits()).find((record) => record.name === name)
  }
  async function existing(name: string): Promise<LimitRecord> {
    const record = await find(checkName(name, 'limit'))
    if (record === undefined) throw await limits.unknown(name)
    return record
  }
  return {
    limit: limits.outside,
    limits: {
      list: async () => (await opened()).limits(),
      async create(name, options) {
        const settings = settingsOf(options, 'limit')
        if ((await find(checkName(name, 'name'))) !== undefined) throw exists(name)
        await (await opened()).declareLimits([{ name, settings }])
        // Somebody else may have been faster.
        const record = await existing(name)
        if (!isSame(record.settings, settings)) throw exists(name)
        return record
      },
      async change(name, change) {
        const { settings } = await existing(name)
        return (await opened()).changeLimit(name, merged(name, settings, change))
      },
      delete: async (name) => (await opened()).deleteLimit(checkName(name, 'limit')),
      drain: limits.drain,
    },
  }
}

function merged(name: string, before: LimitSettings, change: LimitChange): LimitSettings {
  checkObjectKeys(change, 'limit', KEYS)
  const perKey = isPerKey(before)
  if (perKey && 'concurrency' in change) throw perKeyFixed(name, perKey)
  if ('concurrency' in change || before.type === 'concurrency')
    return settingsOf(change as LimitOptions, 'limit')
  const { rate = before.amount, per = before.perMs, burst } = change
  if ('perKey' in change && change.perKey !== perKey) throw perKeyFixed(name, perKey)
  // A burst that nobody chose follows the rate.
  const kept = hasDefaultBurst(before) ? {} : { burst: before.burst }
  return settingsOf({ rate, per, perKey, ...(burst === undefined ? kept : { burst }) }, 'limit')
}

function hasDefaultBurst({ amount, perMs, burst }: RateSettings): boolean {
  return burst === defaultBurst(amount, perMs)
}

function isSame(a: LimitSettings, b: LimitSettings): boolean {
  const keys = Object.keys({ ...a, ...b }) as (keyof LimitSettings)[]
  return keys.every((key) => a[key] === b[key])
}

function exists(name: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'there is a limit of this name already', {
    field: 'name',
    value: shown(name),
    fix: 'Change it with mill.limits.change, or delete it first',
  })
}

/** `limit` of a handler. `settings` are the live ones of queues. */
export function limitFor(
  attempt: Attempt,
  limits: Limits,
  settings: (queue: string) => QueueSettings,
): LimitInside {
  // Most handlers never ask, and this is made for each of their attempts.
  return {
    acquire: (name, draw) => drawingFor(attempt, limits, settings).acquire(name, draw),
    tryAcquire: (name, draw) => drawingFor(attempt, limits, settings).tryAcquire(name, draw),
    drain: (name, options) => drawingFor(attempt, limits, settings).drain(name, options),
  }
}

/** What the attempt holds is known by its lease, however often this is asked. */
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
