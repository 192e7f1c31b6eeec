/** Combines the settings of a queue from code, overrides and defaults. */
import {
  dropOverrides,
  NO_OVERRIDES,
  overriddenValues,
  type OverrideRecord,
  overrideRecords,
  type Overrides,
  setOverrides,
  type Stamp,
} from './overrides.ts'
import { durationText } from '../duration.ts'
import { JobmillError, OTHER } from '../errors.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './queue-settings.ts'

export interface QueueSources {
  /** The options in code at the last declaration; null for a queue that code does not declare. */
  readonly code: Partial<QueueSettings> | null
  readonly overrides: Overrides
}

/** A queue that was created by a job or an instance, not by code. */
export const UNDECLARED: QueueSources = Object.freeze({ code: null, overrides: NO_OVERRIDES })

export function queueBase({ code }: Pick<QueueSources, 'code'>): QueueSettings {
  return fitting({ ...DEFAULT_QUEUE_SETTINGS, ...code })
}

/** The settings in effect. */
export function effectiveQueue(sources: QueueSources): QueueSettings {
  return fitting(combined(sources))
}

function combined({ code, overrides }: QueueSources): QueueSettings {
  const overridden = overriddenValues(overrides) as Partial<QueueSettings>
  return { ...DEFAULT_QUEUE_SETTINGS, ...code, ...overridden }
}

/**
 * Code alone cannot set a base above its max. When one comes from code and the other from an override or a
 * default, the max limits the base.
 */
function fitting(settings: QueueSettings): QueueSettings {
  const { backoffBaseMs: base, backoffMaxMs: max } = settings
  return base <= max ? settings : { ...settings, backoffBaseMs: max }
}

export function overrideQueue(
  sources: QueueSources,
  settings: Partial<QueueSettings>,
  stamp: Stamp,
): QueueSources {
  const overrides = setOverrides(sources.overrides, settings, { base: queueBase(sources), stamp })
  const after = { code: sources.code, overrides }
  checkBackoff(settings, combined(after))
  return after
}

/** Checks only a change of the backoff: an earlier conflict with code must not block other changes. */
function checkBackoff(
  change: Partial<QueueSettings>,
  { backoffBaseMs: base, backoffMaxMs: max }: QueueSettings,
): void {
  if ((change.backoffBaseMs === undefined && change.backoffMaxMs === undefined) || base <= max) return
  const isBase = change.backoffBaseMs !== undefined
  const what = isBase
    ? `must not be longer than ${OTHER}, which is ${durationText(max)}`
    : `must not be shorter than ${OTHER}, which is ${durationText(base)}`
  throw new JobmillError('OPTION_CONFLICT', what, {
    field: isBase ? 'queue.backoff.base' : 'queue.backoff.max',
    others: [isBase ? 'queue.backoff.max' : 'queue.backoff.base'],
    value: durationText(isBase ? base : max),
    fix: { code: 'backoff.order' },
  })
}

export function resetQueue(sources: QueueSources, options: readonly string[] | null): QueueSources {
  return { code: sources.code, overrides: dropOverrides(sources.overrides, options) }
}

export function isSameQueue(a: QueueSettings, b: QueueSettings): boolean {
  return (Object.keys(DEFAULT_QUEUE_SETTINGS) as (keyof QueueSettings)[]).every((key) => a[key] === b[key])
}

export function queueOverrides(name: string, sources: QueueSources): OverrideRecord[] {
  const base: Readonly<Record<string, unknown>> = { ...queueBase(sources) }
  const { backoffBaseMs } = effectiveQueue(sources)
  return overrideRecords('queue', name, sources.overrides, (option) => ({
    // The base in effect, which a lower max limits.
    ...(option === 'backoffBaseMs' && { value: backoffBaseMs }),
    code: base[option] ?? null,
    isInCode: sources.code !== null && option in sources.code,
    isApplied: true,
  }))
}
