/** Where the settings of a queue come from: code, overrides and defaults. */
import {
  dropOverrides,
  hasOverrides,
  NO_OVERRIDES,
  overriddenValues,
  overrideEntries,
  type OverrideRecord,
  type Overrides,
  setOverrides,
  type Stamp,
} from './overrides.ts'
import { durationText } from './duration.ts'
import { JobmillError } from './errors.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './queue-settings.ts'

export interface QueueSources {
  /** The options that code named when it was declared last; null for a queue that code does not declare. */
  readonly code: Partial<QueueSettings> | null
  readonly overrides: Overrides
}

/** A queue that a job or an instance brought in. */
export const UNDECLARED: QueueSources = Object.freeze({ code: null, overrides: NO_OVERRIDES })

export function queueBase({ code }: Pick<QueueSources, 'code'>): QueueSettings {
  return { ...DEFAULT_QUEUE_SETTINGS, ...code }
}

/** What counts. */
export function effectiveQueue(sources: QueueSources): QueueSettings {
  return { ...queueBase(sources), ...(overriddenValues(sources.overrides) as Partial<QueueSettings>) }
}

/** For releases that keep the first declaration: whether there is anything that they must leave as it is. */
export function isDeclared({ code, overrides }: QueueSources): boolean {
  return code !== null || hasOverrides(overrides)
}

/**
 * As a row has it. A row that is declared and has neither part was written by a release that kept only what counts: nobody knows who set that, so it is
 * code's part until the next declaration.
 */
export function keptQueue(
  kept: QueueSources & { readonly declared: boolean },
  row: QueueSettings,
): QueueSources {
  const { declared, code, overrides } = kept
  return declared && !isDeclared(kept) ? { code: row, overrides } : { code, overrides }
}

export function overrideQueue(
  sources: QueueSources,
  settings: Partial<QueueSettings>,
  stamp: Stamp,
): QueueSources {
  const overrides = setOverrides(sources.overrides, settings, { base: queueBase(sources), stamp })
  const after = { code: sources.code, overrides }
  checkBackoff(settings, effectiveQueue(after))
  return after
}

/** Only a change of the backoff: what code or an earlier release wrote is no reason to refuse a change of something else. */
function checkBackoff(
  change: Partial<QueueSettings>,
  { backoffBaseMs: base, backoffMaxMs: max }: QueueSettings,
): void {
  if ((change.backoffBaseMs === undefined && change.backoffMaxMs === undefined) || base <= max) return
  const isBase = change.backoffBaseMs !== undefined
  const what = isBase
    ? `is longer than backoff.max, which is ${durationText(max)}`
    : `is shorter than backoff.base, which is ${durationText(base)}`
  throw new JobmillError('OPTION_CONFLICT', what, {
    field: isBase ? 'queue.backoff.base' : 'queue.backoff.max',
    value: durationText(isBase ? base : max),
    fix: 'Raise max or lower base',
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
  return overrideEntries(sources.overrides).map(([option, override]) => ({
    what: 'queue',
    name,
    option,
    ...override,
    code: base[option] ?? null,
    isInCode: sources.code !== null && option in sources.code,
  }))
}
