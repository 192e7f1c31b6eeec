/**
 * Indexed payload paths. Values at the paths that a kind declares are stored as index entries: tags with a
 * prefix that no tag of a user can have.
 */
import { BOUNDS } from '../defaults.ts'
import { invalidValue, JobmillError } from '../errors.ts'
import type { NewJob } from '../enqueue/new-job.ts'
import { checkArray } from '../numbers.ts'
import { valueAt } from './value-at.ts'

/** `checkKey` refuses control characters, so no other tag starts with it. */
const ENTRY_MARK = '\u0001'

const PATH = /^[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*$/u

export const isEntry = (tag: string): boolean => tag.startsWith(ENTRY_MARK)

/** The tags of a job as users see them. */
export function withoutEntries(tags: readonly string[]): readonly string[] {
  return tags.some(isEntry) ? tags.filter((tag) => !isEntry(tag)) : tags
}

/** The tags of a job whose payload is replaced: its own, and the entries of the new payload. */
export function withEntriesOf(tags: readonly string[], replacement: readonly string[]): readonly string[] {
  return [...withoutEntries(tags), ...replacement.filter(isEntry)]
}

export const entryOf = (path: string, value: string): string => `${ENTRY_MARK}${path}:${value}`

/** Whether the payload index can store this value. */
export function isIndexable(value: string): boolean {
  return value.length <= BOUNDS.indexedChars && !value.includes('\u0000') && value.isWellFormed()
}

/** The paths of the entries among these tags. No path contains a colon. */
export function pathsOfEntries(tags: readonly string[]): readonly string[] {
  return tags.filter(isEntry).map((entry) => entry.slice(ENTRY_MARK.length, entry.indexOf(':')))
}

/** Entries for the strings, numbers and booleans at these paths. `payload` is JSON text. */
export function entriesOf(paths: readonly string[], payload: string): string[] {
  const root: unknown = JSON.parse(payload)
  return paths.flatMap((path) => {
    const value = valueAt(root, path.split('.'))
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    return typeof text === 'string' && isIndexable(text) ? [entryOf(path, text)] : []
  })
}

/** The job with its index entries. */
export function indexedJob(job: NewJob, paths: readonly string[] | undefined): NewJob {
  const entries = paths === undefined ? [] : entriesOf(paths, job.payload)
  return entries.length === 0 ? job : { ...job, tags: [...job.tags, ...entries] }
}

/** Checks the option `indexedPayload` of a kind. */
export function checkIndexedPayload(given: unknown, field: string): readonly string[] {
  const paths = checkArray(given, field, "Pass an array of paths, such as ['customer.id']")
  if (paths.length > BOUNDS.indexedPaths)
    throw new JobmillError('OPTION_INVALID', `has more than ${BOUNDS.indexedPaths} paths`, {
      field,
      value: `${paths.length} paths`,
      fix: `Pass at most ${BOUNDS.indexedPaths}: each adds a row per job`,
    })
  return paths.map((path: unknown, at) => {
    const one = checkIndexedPath(path, `${field}[${at}]`)
    if (paths.indexOf(path) < at) throw invalidValue(`${field}[${at}]`, path, 'is duplicated', 'Pass it once')
    return one
  })
}

export function checkIndexedPath(path: unknown, field: string): string {
  if (typeof path !== 'string' || path === '')
    throw invalidValue(field, path, 'must be a non-empty string', "Pass a path such as 'customer.id'")
  if (!PATH.test(path)) {
    const fix = 'Use letters, digits, _ $ - in each part, and a dot between parts'
    throw invalidValue(field, path, 'is not a valid payload path', fix)
  }
  const parts = path.split('.').length
  if (path.length <= BOUNDS.indexedChars && parts <= BOUNDS.soughtParts) return path
  const fix = `Use at most ${BOUNDS.indexedChars} characters and ${BOUNDS.soughtParts} parts`
  throw invalidValue(field, path, 'is too long', fix)
}
