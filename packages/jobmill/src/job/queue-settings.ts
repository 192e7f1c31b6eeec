/** The live settings of a queue, and what an operator may change of them. */
import { BOUNDS, DEFAULTS } from './defaults.ts'
import { type Duration, durationMs, durationOrForever } from './duration.ts'
import { JobmillError, shown } from './errors.ts'
import { checkObjectKeys } from './known-keys.ts'
import { checkBoolean, checkWhole } from './numbers.ts'

export interface QueueSettings {
  /** Null: every instance that serves the queue runs its default. A number: the total of the cluster. */
  readonly workers: number | null
  readonly paused: boolean
  readonly backoffEnabled: boolean
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  /** How long ended jobs are kept; null for ever. */
  readonly retainDoneMs: number | null
  readonly retainCancelledMs: number | null
  readonly retainDeadMs: number | null
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
})

/** What a user writes; left out means unchanged. */
export interface QueueChange {
  readonly workers?: number | null
  readonly paused?: boolean
  readonly backoff?: { readonly enabled?: boolean; readonly base?: Duration; readonly max?: Duration }
  /** Durations, or `'forever'`. */
  readonly retain?: { readonly done?: Duration; readonly cancelled?: Duration; readonly dead?: Duration }
  /** Claim nothing for this long from now; 0 ends a cool-down. */
  readonly coolFor?: Duration
}

export interface QueuePatch {
  readonly settings: Partial<QueueSettings>
  readonly coolMs: number | null
}

export function prepareQueueChange(change: QueueChange, field = 'queue'): QueuePatch {
  checkObjectKeys(change, field, ['workers', 'paused', 'backoff', 'retain', 'coolFor'])
  const settings: { -readonly [K in keyof QueueSettings]?: QueueSettings[K] } = {}
  if (change.workers !== undefined) {
    settings.workers =
      change.workers === null ? null : checkWhole(change.workers, `${field}.workers`, BOUNDS.workers)
  }
  if (change.paused !== undefined) settings.paused = checkBoolean(change.paused, `${field}.paused`)
  if (change.backoff !== undefined) Object.assign(settings, backoff(change.backoff, `${field}.backoff`))
  if (change.retain !== undefined) Object.assign(settings, retention(change.retain, `${field}.retain`))
  const coolMs = change.coolFor === undefined ? null : durationMs(change.coolFor, `${field}.coolFor`)
  return { settings, coolMs }
}

function backoff(value: NonNullable<QueueChange['backoff']>, field: string): Partial<QueueSettings> {
  checkObjectKeys(value, field, ['enabled', 'base', 'max'])
  const base = value.base === undefined ? undefined : durationMs(value.base, `${field}.base`)
  const max = value.max === undefined ? undefined : durationMs(value.max, `${field}.max`)
  if (base !== undefined && max !== undefined && base > max) {
    throw new JobmillError('OPTION_CONFLICT', 'is longer than backoff.max', {
      field: `${field}.base`,
      value: shown(value.base),
      fix: 'Raise max or lower base',
    })
  }
  return {
    ...(value.enabled === undefined
      ? {}
      : { backoffEnabled: checkBoolean(value.enabled, `${field}.enabled`) }),
    ...(base === undefined ? {} : { backoffBaseMs: base }),
    ...(max === undefined ? {} : { backoffMaxMs: max }),
  }
}

function retention(value: NonNullable<QueueChange['retain']>, field: string): Partial<QueueSettings> {
  checkObjectKeys(value, field, ['done', 'cancelled', 'dead'])
  return {
    ...(value.done === undefined ? {} : { retainDoneMs: durationOrForever(value.done, `${field}.done`) }),
    ...(value.cancelled === undefined
      ? {}
      : { retainCancelledMs: durationOrForever(value.cancelled, `${field}.cancelled`) }),
    ...(value.dead === undefined ? {} : { retainDeadMs: durationOrForever(value.dead, `${field}.dead`) }),
  }
}

/** Settings as stores take them: all of them, or those that change. */
export function checkQueueSettings(settings: Partial<QueueSettings>, field: string): void {
  checkObjectKeys(settings, field, Object.keys(DEFAULT_QUEUE_SETTINGS))
  for (const [key, value] of Object.entries(settings)) {
    const at = `${field}.${key}`
    if (key === 'paused' || key === 'backoffEnabled') checkBoolean(value, at)
    else if (value === null && NULLABLE.has(key)) continue
    else checkWhole(value, at, key === 'workers' ? BOUNDS.workers : { least: 0, most: BOUNDS.durationMs })
  }
}

/** Unset workers, and what is kept for ever. */
const NULLABLE: ReadonlySet<string> = new Set([
  'workers',
  'retainDoneMs',
  'retainCancelledMs',
  'retainDeadMs',
])
