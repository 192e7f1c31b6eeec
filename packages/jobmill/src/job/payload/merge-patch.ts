/** JSON merge patches (RFC 7396): members of a patch replace those of a payload, and null removes them. */
import { invalidValue } from '../errors.ts'
import { jsonText } from '../text/json-text.ts'

export type MergePatch = Readonly<Record<string, unknown>>

const EXAMPLE = 'Pass the members to change, such as { "currency": "EUR" }; null removes a member'

/**
 * The patch as JSON. Anything but an object would replace whole payloads, and an empty object would change
 * nothing, so both are refused as mistakes.
 */
export function checkPatch(given: unknown, field: string, limitBytes: number): MergePatch {
  if (!isObject(given)) throw invalidValue(field, given, 'must be a JSON object', EXAMPLE)
  const patch = JSON.parse(jsonText(given, field, limitBytes)) as MergePatch
  if (!isObject(patch)) throw invalidValue(field, given, 'must be a JSON object', EXAMPLE)
  if (Object.keys(patch).length === 0) throw invalidValue(field, given, 'has no members', EXAMPLE)
  return patch
}

/** Both arguments are plain JSON. Neither is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  // Defines each member, so that one named `__proto__` is a member too.
  return Object.fromEntries(merged)
}

/** The parts of a payload that the patch names, to show what it changes. */
export function partsNamedBy(patch: MergePatch, payload: unknown): unknown {
  if (!isObject(payload)) return payload
  const named = Object.entries(patch).flatMap(([key, value]) => {
    if (!Object.hasOwn(payload, key)) return []
    const part = payload[key]
    return [[key, isObject(value) ? partsNamedBy(value, part) : part]]
  })
  return Object.fromEntries(named)
}

function isObject(value: unknown): value is MergePatch {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
