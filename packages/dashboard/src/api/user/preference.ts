/** A user preference, stored on this device. */
export interface Preference<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

export function preference<T>(
  name: string,
  otherwise: T,
  isValid: (value: unknown) => boolean,
): Preference<T> {
  const key = `jobmill.${name}`
  const listeners = new Set<() => void>()
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
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
