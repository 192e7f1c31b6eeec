/** JSON merge patches (RFC 7396), as the server applies them to payloads. */
import type { JsonRead } from './json-problem.ts'

export type MergePatch = Readonly<Record<string, unknown>>

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

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
