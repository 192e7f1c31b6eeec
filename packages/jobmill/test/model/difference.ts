// Finds the first difference of two plain values: a whole dump in a message does not help.
import { isDeepStrictEqual } from 'node:util'

export interface ConfigDrift {
  readonly path: string
  readonly actual: unknown
  readonly expected: unknown
}

/** Undefined when they are equal. */
export function difference(actual: unknown, expected: unknown, path = ''): ConfigDrift | undefined {
  if (isDeepStrictEqual(actual, expected)) return undefined
  if (isBranch(actual) && isBranch(expected)) {
    for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
      const inner = difference(actual[key], expected[key], `${path}.${key}`)
      if (inner !== undefined) return inner
    }
  }
  return { path, actual, expected }
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
