/** Remembers the newest leases whose jobs have their own rows in `running`. */
const MOST = 10_000

export interface KnownRows {
  has(key: string): boolean
  add(key: string): void
}

export function knownRows(): KnownRows {
  const keys = new Set<string>()
  return {
    has: (key) => keys.has(key),
    add(key) {
      keys.add(key)
      const [oldest] = keys
      if (keys.size > MOST && oldest !== undefined) keys.delete(oldest)
    },
  }
}
