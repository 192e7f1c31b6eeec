/** The live settings of a queue, and the changes that an operator can make. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs, durationOrForever } from '../duration.ts'
import { invalidValue, JobmillError, OTHER, quote } from '../errors.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { omitUndefined } from '../options/omit-undefined.ts'
import { checkName } from '../names.ts'
import { checkBoolean, checkWhole } from '../numbers.ts'
import { groupLimits } from './group-settings.ts'
import { limitText } from '../other-libraries/texts.ts'

export interface QueueSettings {
  /** Null: each instance that serves the queue runs its default. A number: the total of the cluster. */
  readonly workers: number | null
  readonly paused: boolean
  readonly backoffEnabled: boolean
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  /** How long ended jobs are kept; null means without a time limit. */
  readonly retainDoneMs: number | null
  readonly retainCancelledMs: number | null
  readonly retainDeadMs: number | null
  /** How many ended jobs are kept, newest first; null means no maximum. */
  readonly keepDone: number | null
  readonly keepCancelled: number | null
  readonly keepDead: number | null
  /** The limit that each claimed job of this queue uses; null for none. */
  readonly limit: string | null
  /** The target of the queue latency; null for none. */
  readonly targetLatencyMs: number | null
  /** Whether the groups of its jobs take turns. */
  readonly groupFair: boolean
  /** How many jobs of a group run at once; null for no maximum. */
  readonly groupConcurrency: number | null
  /** How many jobs of a group start per `groupRatePerMs`; both null for no maximum. */
  readonly groupRate: number | null
  readonly groupRatePerMs: number | null
}

export const DEFAULT_QUEUE_SETTINGS: QueueSettings = Object.freeze({
  workers: null,
  paused: false,
  backoffEnabled: true,
  backoffBaseMs: DEFAULTS.backoffBaseMs,
  backoffMaxMs: DEFAULTS.backoffMaxMs,
  retainDoneMs: DEFAULTS.retainDoneMs,
  retainCancelledMs: DEFAULTS.retainCancelledMs,
  retainDeadMs: null,
  keepDone: null,
  keepCancelled: null,
  keepDead: null,
  limit: null,
  targetLatencyMs: null,
  groupFair: false,
  groupConcurrency: null,
  groupRate: null,
  groupRatePerMs: null,
})

/** The public options; an omitted option stays unchanged. */
export interface QueueChange {
  /** The total over all processes. Null, the default: each process that serves the queue runs 10. */
  readonly workers?: number | null
  /** True: no process claims jobs of this queue (default false). */
  readonly paused?: boolean
  /** The exponential backoff of failed jobs, unless their kind sets its own. */
  readonly backoff?: {
    /** False: failed jobs are retried immediately (default true). */
    readonly enabled?: boolean
    /** The longest delay before the first retry, doubled for each further one (default 10 s). */
    readonly base?: Duration
    /** The longest delay before any retry (default 30 min). */
    readonly max?: Duration
  }
  /**
   * How long ended jobs are kept, and optionally at most how many:
   * `{ done: '7d', dead: { for: 'forever', most: 10_000 } }`.
   */
  readonly retain?: {
    /** How long done jobs are kept (default 7 days). */
    readonly done?: Retention
    /** How long cancelled jobs are kept (default 7 days). */
    readonly cancelled?: Retention
    /** How long dead jobs are kept (default forever). */
    readonly dead?: Retention
  }
  /** The name of a limit that each job of this queue acquires from before it is claimed; null for none. */
  readonly limit?: string | null
  /**
   * The target of the queue latency, the time from ready to started. `mill.capacity()` compares it with the
   * 95th percentile, and with the age of the oldest ready job. Null, the default: no target.
   */
  readonly targetLatency?: Duration | null
  /**
   * How the groups of its jobs share it, such as tenants: `{ fair: true, concurrency: 2 }`. Null, the
   * default: not at all.
   */
  readonly groups?: QueueGroups | null
  /** Claim nothing for this long from now; 0 ends a cool-down. */
  readonly coolFor?: Duration
}

/** Each group has the same settings, unless `mill.groups.update` changes those of one. */
export interface QueueGroups {
  /** Groups take turns, so that one with many jobs does not delay the others (default false). */
  readonly fair?: boolean
  /** How many jobs of a group run at once. Null, the default: no maximum. */
  readonly concurrency?: number | null
  /** How many jobs of a group start per `per`. Null, the default: no maximum. */
  readonly rate?: number | null
  /** The period of `rate` (default 1 s). */
  readonly per?: Duration
}

/**
 * A duration or `'forever'`. With `most`, at most that many of the newest jobs are kept; null for no maximum.
 */
export type Retention =
  | Duration
  | {
      /** A duration or `'forever'`. */
      readonly for?: Duration
      /** Only this many of the newest jobs are kept; null, the default, for no maximum. */
      readonly most?: number | null
    }

export interface QueuePatch {
  readonly settings: Partial<QueueSettings>
  readonly coolMs: number | null
}

export function prepareQueueChange(change: QueueChange, field = 'queue'): QueuePatch {
  checkObjectKeys(change, field, [
    'workers',
    'paused',
    'backoff',
    'retain',
    'limit',
    'targetLatency',
    'groups',
    'coolFor',
  ])
  const settings: { -readonly [K in keyof QueueSettings]?: QueueSettings[K] } = {}
  const { workers } = change
  if (workers !== undefined)
    settings.workers = workers === null ? null : checkWhole(workers, `${field}.workers`, BOUNDS.workers)
  if (change.paused !== undefined) settings.paused = checkBoolean(change.paused, `${field}.paused`)
  if (change.backoff !== undefined) Object.assign(settings, backoff(change.backoff, `${field}.backoff`))
  if (change.retain !== undefined) Object.assign(settings, retention(change.retain, `${field}.retain`))
  if (change.limit !== undefined) settings.limit = limitName(change.limit, field)
  const target = change.targetLatency
  if (target !== undefined)
    settings.targetLatencyMs = target === null ? null : durationMs(target, `${field}.targetLatency`)
  if (change.groups !== undefined) Object.assign(settings, queueGroups(change.groups, `${field}.groups`))
  const coolMs = change.coolFor === undefined ? null : durationMs(change.coolFor, `${field}.coolFor`)
  return { settings, coolMs }
}

function queueGroups(value: QueueGroups | null, field: string): Partial<QueueSettings> {
  if (value === null)
    return { groupFair: false, groupConcurrency: null, groupRate: null, groupRatePerMs: null }
  checkObjectKeys(value, field, ['fair', 'concurrency', 'rate', 'per'])
  const { concurrency, rate, ratePerMs } = groupLimits(value, field)
  return omitUndefined({
    groupFair: value.fair === undefined ? undefined : checkBoolean(value.fair, `${field}.fair`),
    groupConcurrency: concurrency,
    groupRate: rate,
    groupRatePerMs: ratePerMs,
  })
}

function limitName(limit: unknown, queue: string): string | null {
  const field = `${queue}.limit`
  if (typeof limit !== 'object') return checkName(limit, field)
  if (limit === null) return null
  throw invalidValue(field, limit, 'must be the name of a limit', limitText(limit, queue), 'NAME_INVALID')
}

function backoff(value: NonNullable<QueueChange['backoff']>, field: string): Partial<QueueSettings> {
  checkObjectKeys(value, field, ['enabled', 'base', 'max'])
  const { baseMs, maxMs } = backoffTimes(value, field)
  const enabled = value.enabled === undefined ? undefined : checkBoolean(value.enabled, `${field}.enabled`)
  return omitUndefined({ backoffEnabled: enabled, backoffBaseMs: baseMs, backoffMaxMs: maxMs })
}

/** The delays of an exponential backoff, of a queue or of a kind. */
export function backoffTimes(
  { base, max }: { readonly base?: Duration; readonly max?: Duration },
  field: string,
): { readonly baseMs: number | undefined; readonly maxMs: number | undefined } {
  const baseMs = base === undefined ? undefined : durationMs(base, `${field}.base`)
  const maxMs = max === undefined ? undefined : durationMs(max, `${field}.max`)
  if (baseMs === undefined || maxMs === undefined || baseMs <= maxMs) return { baseMs, maxMs }
  throw new JobmillError('OPTION_CONFLICT', `must not be longer than ${OTHER}`, {
    others: [`${field}.max`],
    field: `${field}.base`,
    value: quote(base),
    fix: { code: 'backoff.order' },
  })
}

function retention(value: NonNullable<QueueChange['retain']>, field: string): Partial<QueueSettings> {
  checkObjectKeys(value, field, ['done', 'cancelled', 'dead'])
  const settings: { -readonly [K in keyof QueueSettings]?: QueueSettings[K] } = {}
  for (const [state, age, number] of RETAINED) {
    const kept = value[state]
    if (kept === undefined) continue
    const at = `${field}.${state}`
    if (typeof kept !== 'object' || kept === null) {
      settings[age] = durationOrForever(kept, at)
      continue
    }
    checkObjectKeys(kept, at, ['for', 'most'])
    if (kept.for !== undefined) settings[age] = durationOrForever(kept.for, `${at}.for`)
    if (kept.most !== undefined)
      settings[number] = kept.most === null ? null : checkWhole(kept.most, `${at}.most`, BOUNDS.keep)
  }
  return settings
}

const RETAINED = [
  ['done', 'retainDoneMs', 'keepDone'],
  ['cancelled', 'retainCancelledMs', 'keepCancelled'],
  ['dead', 'retainDeadMs', 'keepDead'],
] as const
