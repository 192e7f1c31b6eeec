/** `mill.overrides`: every option that an operator set, next to its value in code, and the reset. */
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { checkNoUndefined, checkObjectKeys, didYouMean } from '../../job/options/known-keys.ts'
import { checkKey, checkSoughtName, checkString } from '../../job/names.ts'
import { checkOneOf } from '../../job/numbers.ts'
import { optionKeys, optionName, optionNames, optionValue } from '../../job/options/option-names.ts'
import { OVERRIDABLE, type Overridable, type OverrideRecord } from '../../job/queue/overrides.ts'
import type { StoreAccess } from '../store-access.ts'

/**
 * Options and values as written in code: `retain.done`, `'7d'`. `by` and `at` are null when an earlier
 * release wrote the override.
 */
export type OverrideView = OverrideRecord

/** Selects overrides: all, those of one queue, limit or schedule, or one option of it. */
export interface OverrideSelection {
  readonly what?: Overridable
  readonly name?: string
  readonly option?: string
}

/** The author of a change, for the list of overrides (default: the label of this process). */
export interface ByOption {
  readonly by?: string | undefined
}

/** The author that the caller gave, or the label of this process. */
export function byOf(how: ByOption | undefined, us: () => string): string {
  if (how === undefined) return us()
  checkObjectKeys(how, 'how', ['by'])
  return how.by === undefined ? us() : checkKey(how.by, 'by')
}

export interface OverridesApi {
  /**
   * Every option of queues, limits and schedules that an operator set. The value in code is ignored until a
   * reset, unless `isApplied` is false.
   */
  overrides(): Promise<OverrideView[]>
  /**
   * Applies the values in code again, in every process within a second. Returns the removed overrides.
   * Without a selection it removes all.
   */
  resetOverrides(selection?: OverrideSelection): Promise<OverrideView[]>
}

export function overridesApi({ opened, wake }: StoreAccess): OverridesApi {
  return {
    overrides: async () => (await (await opened()).overrides.list()).map(overrideView),
    async resetOverrides(selection = {}) {
      const { what, name, option } = checkSelection(selection)
      const store = await opened()
      const all = await store.overrides.list()
      if (what !== undefined && name !== undefined) {
        const keys = option === undefined ? null : knownKeys(what, option)
        const gone = await store.overrides.reset(what, name, keys)
        wake()
        return all.filter((one) => isOf(one, what, name) && gone.includes(one.option)).map(overrideView)
      }
      const chosen = all.filter((one) => what === undefined || one.what === what)
      const things = new Map(chosen.map((one) => [`${one.what} ${one.name}`, one]))
      for (const thing of things.values()) await store.overrides.reset(thing.what, thing.name, null)
      wake()
      return chosen.map(overrideView)
    },
  }
}

function isOf(one: OverrideRecord, what: Overridable, name: string): boolean {
  return one.what === what && one.name === name
}

function overrideView(one: OverrideRecord): OverrideView {
  const { what, option, value, code } = one
  return {
    ...one,
    option: optionName(what, option),
    value: optionValue(what, option, value),
    code: optionValue(what, option, code),
  }
}

function checkSelection(selection: OverrideSelection): OverrideSelection {
  checkObjectKeys(selection, 'selection', ['what', 'name', 'option'])
  checkNoUndefined(selection, 'selection')
  const { what, name, option } = selection
  if (what !== undefined) checkOneOf(what, 'what', OVERRIDABLE)
  if (name !== undefined) checkSoughtName(name, 'name')
  if (option !== undefined) checkString(option, 'option')
  if (name !== undefined && what === undefined)
    throw missing('what', "Pass what: 'queue', 'limit' or 'schedule'")
  if (option !== undefined && name === undefined)
    throw missing('name', 'Pass the name of the queue, limit or schedule')
  return selection
}

function missing(field: string, fix: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'is missing', { field, fix })
}

function knownKeys(what: Overridable, option: string): string[] {
  const keys = optionKeys(what, option)
  if (keys.length > 0) return keys
  const names = optionNames(what)
  const fix = didYouMean(option, names, `Use one of ${names.join(', ')}`)
  throw invalidValue('option', option, `is not an option of a ${what}`, fix, 'OPTION_UNKNOWN')
}
