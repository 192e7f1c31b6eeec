/** Timers in the order in which they fire: by time, and by insertion if due together. */

interface Entry {
  readonly at: number
  readonly task: () => void
  /** Whether a leap may pass it. */
  readonly recurring: boolean
}

/**
 * A sorted array: a test has dozens of timers, and a cancelled one is removed at once, so that leaks can be
 * counted.
 */
export function timeline() {
  const entries: Entry[] = []

  return {
    add(at: number, task: () => void, recurring = false): Entry {
      const entry = { at, task, recurring }
      const last = entries.findLastIndex((one) => one.at <= at)
      entries.splice(last + 1, 0, entry)
      return entry
    },
    remove(entry: Entry) {
      const at = entries.indexOf(entry)
      if (at !== -1) entries.splice(at, 1)
    },
    /** Removes and returns the first timer if it is due at this time. */
    take(until: number) {
      const [first] = entries
      return first !== undefined && first.at <= until ? entries.shift() : undefined
    },
    /** When the first timer is due. */
    get nextAt() {
      return entries[0]?.at
    },
    /** When the first timer is due that no leap may pass. */
    get nextFixedAt() {
      return entries.find(({ recurring }) => !recurring)?.at
    },
    get size() {
      return entries.length
    },
  }
}
