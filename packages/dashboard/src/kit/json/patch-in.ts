/** The JSON merge patch (RFC 7396) that a user types. */
import type { MergePatch } from 'jobmill/internal'
import type { JsonRead } from './json-problem.ts'

/** The typed patch, or null while the server would refuse it, and what is wrong with it, if known. */
export function patchIn(read: JsonRead): {
  readonly patch: MergePatch | null
  readonly problem: string | null
} {
  // The editor shows where the JSON is wrong.
  if ('problem' in read) return { patch: null, problem: null }
  if (!isObject(read.value))
    return { patch: null, problem: 'Must be an object, such as {"currency": "EUR"}.' }
  return { patch: Object.keys(read.value).length === 0 ? null : read.value, problem: null }
}

function isObject(value: unknown): value is MergePatch {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
