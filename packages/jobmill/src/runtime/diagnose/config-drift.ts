/**
 * Configuration drift: where settings in the store differ from the options of this process, because of an
 * override, a later release or a higher version of a schedule.
 */
import type { ConfigDrift } from '../../job/events.ts'
import { effectiveLimit } from '../../job/limit/limit-sources.ts'
import { optionName, optionValue } from '../../job/options/option-names.ts'
import {
  isSameValue,
  NO_OVERRIDES,
  type Overridable,
  type OverrideRecord,
  type Overrides,
} from '../../job/queue/overrides.ts'
import { effectiveQueue, queueBase } from '../../job/queue/queue-sources.ts'
import { SCHEDULE_KEYS } from '../../job/schedule/schedule.ts'
import type { FullStore } from '../../store/store.ts'
import type { Resolved } from '../options/options.ts'

export async function drift(
  store: Pick<FullStore, 'queues' | 'limits' | 'schedules' | 'overrides'>,
  { declared, limits, schedules: defined }: Pick<Resolved, 'declared' | 'limits' | 'schedules'>,
): Promise<ConfigDrift[]> {
  const [queues, known, schedules, overrides] = await Promise.all([
    store.queues.list(),
    store.limits.list(),
    store.schedules.list(),
    store.overrides.list(),
  ])
  return [
    ...declared.flatMap(({ name, settings: named }) => {
      const code = queueBase({ code: named })
      const stored = queues.find((one) => one.name === name) ?? code
      const set = overridesOf('queue', name, overrides)
      // A shorter max of an operator also lowers the base from code. That is not drift of the base.
      const follows = effectiveQueue({ code: named, overrides: set })
      const options = Object.keys(code).filter((key) => key in set || !isSame(follows, stored, key))
      return compare({ what: 'queue', name, named, code, stored, overrides }, options)
    }),
    ...limits.flatMap(({ name, settings: named }) => {
      const code = effectiveLimit({ code: named, overrides: NO_OVERRIDES })
      const stored = known.find((one) => one.name === name)?.settings ?? code
      const set = overridesOf('limit', name, overrides)
      const follows = effectiveLimit({ code: named, overrides: set })
      // An overridden rate also changes the default burst. That is not drift of the burst.
      const options = Object.keys({ ...code, ...stored }).filter(
        (key) => key !== 'type' && (key in set || !isSame(follows, stored, key)),
      )
      // For the same reason, the reset of a burst applies the default of the overridden rate.
      const { burst: _, ...others } = set
      const burst = valueOf(effectiveLimit({ code: named, overrides: others }), 'burst')
      const afterReset = 'burst' in set ? { ...code, burst } : code
      return compare({ what: 'limit', name, named, code: afterReset, stored, overrides }, options)
    }),
    ...defined.flatMap(({ name, version, definition: code }) => {
      // A deleted schedule is not listed.
      const stored = schedules.find((one) => one.name === name)
      if (stored === undefined) return []
      const higherVersion = (stored.version ?? 0) > version ? stored.version : null
      return compare(
        { what: 'schedule', name, named: code, code, stored: stored.live, overrides, higherVersion },
        SCHEDULE_KEYS,
      )
    }),
    ...overrides
      .filter(({ what, name, option }) => {
        const isDeletion = what === 'schedule' && option === 'deleted'
        return isDeletion && defined.some((one) => one.name === name)
      })
      .map(deletion),
  ]
}

/** Events are logged and stored in the timeline, and payloads may contain secrets. */
export function withoutPayload(one: ConfigDrift): ConfigDrift {
  return one.field === 'payload' ? { ...one, code: null, stored: null } : one
}

function deletion({ what, name, option, value, code, isInCode, by, at }: OverrideRecord): ConfigDrift {
  const override = { by, at }
  return { what, name, field: option, code, stored: value, isInCode, override, higherVersion: null }
}

interface Compared {
  readonly what: Overridable
  readonly name: string
  /** The options that code sets. */
  readonly named: object
  readonly code: object
  readonly stored: object
  readonly overrides: readonly OverrideRecord[]
  readonly higherVersion?: number | null
}

function compare(
  { what, name, named, code, stored, overrides, higherVersion = null }: Compared,
  options: readonly string[],
): ConfigDrift[] {
  return options
    .filter((option) => !isSame(code, stored, option))
    .map((option) => {
      const by = overridesOf(what, name, overrides)[option]
      return {
        what,
        name,
        field: optionName(what, option),
        code: optionValue(what, option, valueOf(code, option)),
        stored: optionValue(what, option, valueOf(stored, option)),
        isInCode: option in named,
        override: by === undefined ? null : { by: by.by, at: by.at },
        higherVersion,
      }
    })
}

function overridesOf(what: Overridable, name: string, all: readonly OverrideRecord[]): Overrides {
  const own = all.filter((one) => one.what === what && one.name === name)
  return Object.fromEntries(own.map(({ option, value, by, at }) => [option, { value, by, at }]))
}

function isSame(a: object, b: object, option: string): boolean {
  return isSameValue(valueOf(a, option), valueOf(b, option))
}

function valueOf(of: object, option: string): unknown {
  return (of as Record<string, unknown>)[option] ?? null
}
