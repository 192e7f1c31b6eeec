/** A user preference, stored on this device. */
export interface Kept<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (hear: () => void) => () => void
}

export function kept<T>(name: string, otherwise: T, isValid: (value: unknown) => boolean): Kept<T> {
  const key = `jobmill.${name}`
  const hearers = new Set<() => void>()
  let value = read()

  function read(): T {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
      return found !== null && isValid(found) ? (found as T) : otherwise
    } catch {
      return otherwise
    }
  }

  return {
    get: () => value,
    set(next) {
      value = next
      localStorage.setItem(key, JSON.stringify(next))
      for (const hear of hearers) hear()
    },
    subscribe(hear) {
      hearers.add(hear)
      return () => hearers.delete(hear)
    },
  }
}
