/** Reads the value at a path in JSON. */

/** A canonical array index. Anything else is a key. */
export const INDEX = /^(?:0|[1-9]\d*)$/

/** Undefined if the path does not exist. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let at = root
  for (const part of path) {
    if (typeof at !== 'object' || at === null) return undefined
    if (Array.isArray(at) ? !INDEX.test(part) : !Object.hasOwn(at, part)) return undefined
    at = (at as Readonly<Record<string, unknown>>)[part]
  }
  return at
}
