/** Refuses unknown options and suggests the nearest known name, so that a typo is never ignored. */
import { JobmillError, pathOf, quote } from './errors.ts'

/** For options whose keys are checked later; `example` completes the fix. */
export function checkObject(value: unknown, field: string, example: string): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new JobmillError('OPTION_INVALID', 'must be an object', {
    field,
    value: quote(value),
    fix: `Pass ${example}`,
  })
}

export function checkObjectKeys(value: unknown, field: string, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    checkObject(value, field, `an object with some of ${known.join(', ')}`)
  for (const key of Object.keys(value)) if (!known.includes(key)) throw unknownKey(key, field, known)
}

/** One error for each unknown key. */
export function unknownKeys(value: object, field: string, known: readonly string[]): JobmillError[] {
  return Object.keys(value).flatMap((key) => (known.includes(key) ? [] : [unknownKey(key, field, known)]))
}

/** The names that other libraries use for these options. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  attempts: 'maxAttempts',
  concurrency: 'workers',
  cron: 'when',
  handler: 'run',
  perform: 'run',
  process: 'run',
  retries: 'maxAttempts',
  schema: 'payload',
}

function unknownKey(key: string, field: string, known: readonly string[]): JobmillError {
  const same = Object.hasOwn(ELSEWHERE, key) ? (ELSEWHERE[key] ?? '') : ''
  const near = known.includes(same) ? same : nearest(key, known)
  return new JobmillError('OPTION_UNKNOWN', 'is not an option', {
    field: pathOf(field, key),
    // Shows the key and never its value, which may be a password.
    value: quote(key),
    fix: near === undefined ? `Use one of: ${known.join(', ')}` : `Did you mean "${near}"?`,
  })
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
