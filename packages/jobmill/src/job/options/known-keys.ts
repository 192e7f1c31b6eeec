/** Refuses unknown options and suggests the nearest known name, so that a typo is never ignored. */
import { invalidValue, JobmillError, pathOf } from '../errors.ts'
import { hintFor, SAME_OPTIONS } from '../other-libraries/options.ts'

/** A Map, for example, has no own keys: it would pass as empty options, and its content would be ignored. */
export function isOptions(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !NO_OPTIONS.some((type) => value instanceof type)
}

const NO_OPTIONS = [Date, Error, Map, Promise, RegExp, Set]

/** Requires an object whose keys are checked later. `example` completes the fix. */
export function checkObject(value: unknown, field: string, example: string): asserts value is object {
  if (isOptions(value)) return
  // An empty field means the options as a whole.
  throw invalidValue(field === '' ? 'options' : field, value, 'must be an object', `Pass ${example}`)
}

/** `listed` has the names that the error lists and suggests, where they differ from the checked keys. */
export function checkObjectKeys(
  value: unknown,
  field: string,
  known: readonly string[],
  listed: readonly string[] = known,
): void {
  checkObject(value, field, `an object with any of these keys: ${listed.join(', ')}`)
  for (const key of Object.keys(value)) if (!known.includes(key)) throw unknownKey(key, value, field, listed)
}

/** For selections: ignoring an undefined key would apply the action to more than the caller meant. */
export function checkNoUndefined(selection: object, field: string): void {
  const [key] = Object.entries(selection).find(([, value]) => value === undefined) ?? []
  if (key === undefined) return
  const what = 'is undefined, so the action would apply to more than you selected'
  const fix = `Pass a value, or omit ${key}`
  throw new JobmillError('OPTION_INVALID', what, { field: pathOf(field, key), fix })
}

/** One error for each unknown key. */
export function unknownKeys(value: object, field: string, known: readonly string[]): JobmillError[] {
  return Object.keys(value).flatMap((key) =>
    known.includes(key) ? [] : [unknownKey(key, value, field, known)],
  )
}

function unknownKey(key: string, options: object, field: string, known: readonly string[]): JobmillError {
  const fix = hintFor(key, options, field, known) ?? meantText(key, known)
  // Shows the key and never its value, which may be a password.
  return invalidValue(pathOf(field, key), key, 'is not an option', fix, 'OPTION_UNKNOWN')
}

function meantText(key: string, known: readonly string[]): string {
  const same = Object.hasOwn(SAME_OPTIONS, key) ? (SAME_OPTIONS[key] ?? []) : []
  const near = same.filter((one) => known.includes(one))
  const typo = near.length === 0 ? nearest(key, known) : undefined
  if (typo !== undefined) near.push(typo)
  return near.length === 0
    ? `Use one of: ${known.join(', ')}`
    : `Did you mean ${near.map((one) => `"${one}"`).join(' or ')}?`
}

/** The known name with the fewest edits, at most a third of its length (rounded up). */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const most = Math.ceil(candidate.length / 3)
    if (Math.abs(candidate.length - name.length) > most) continue
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits <= most && edits < fewest) {
      fewest = edits
      best = candidate
    }
  }
  return best
}

/** The fix for a name that is probably a typo of a known one, and otherwise the given fix. */
export function didYouMean<T>(name: string, known: readonly string[], otherwise: T): string | T {
  const near = nearest(name, known)
  return near === undefined ? otherwise : `Did you mean "${near}"?`
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
