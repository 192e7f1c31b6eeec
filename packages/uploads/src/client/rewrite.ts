/** Replaces uris with file paths anywhere in a JSON value, in a copy. Unknown uris stay. */
const URI = /jobmill-upload:[0-9a-f-]{36}\/[0-9a-f-]{36}/gi

/** Iterative, because a sender controls the depth of the value. */
export function rewrite<T>(value: T, pathOf: (uri: string) => string | null): T {
  const top = { value: value as unknown }
  const copies = new Map<object, object>()
  const open: object[] = [top]
  const text = (given: string): string => given.replaceAll(URI, (uri) => pathOf(uri) ?? uri)

  function replaced(given: unknown): unknown {
    if (typeof given === 'string') return text(given)
    if (!isPlain(given)) return given
    const there = copies.get(given)
    if (there !== undefined) return there
    const copy = Array.isArray(given) ? [...(given as unknown[])] : Object.fromEntries(Object.entries(given))
    copies.set(given, copy)
    open.push(copy)
    return copy
  }

  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const [key, one] of Object.entries(at)) {
      const next = replaced(one)
      // defineProperty instead of assignment, because a key may be __proto__.
      if (next !== one)
        Object.defineProperty(at, key, { value: next, writable: true, enumerable: true, configurable: true })
    }
  return top.value as T
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
