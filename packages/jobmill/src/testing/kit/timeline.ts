/** Timers in the order in which they fire: by time, and by insertion if due together. */

interface Entry {
  readonly at: number
  readonly task: () => void
}

export interface Timeline {
  add(at: number, task: () => void): Entry
  remove(entry: Entry): void
  /** Removes and returns the first timer if it is due at this time. */
  take(until: number): Entry | undefined
  /** When the first timer is due. */
  readonly nextAt: number | undefined
  readonly size: number
}

/**
 * A sorted array: a test has dozens of timers, and a cancelled one is removed at once, so that leaks can be
 * counted.
 */
export function timeline(): Timeline {
  const entries: Entry[] = []

  /** The index of the first entry that is due later than this. */
  function placeAfter(at: number): number {
    let low = 0
    let high = entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((entries[middle]?.at ?? 0) <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(at, task) {
      const entry = { at, task }
      entries.splice(placeAfter(at), 0, entry)
      return entry
    },
    remove(entry) {
      const at = entries.indexOf(entry)
      if (at !== -1) entries.splice(at, 1)
    },
    take(until) {
      const [first] = entries
      return first !== undefined && first.at <= until ? entries.shift() : undefined
    },
    get nextAt() {
      return entries[0]?.at
    },
    get size() {
      return entries.length
    },
  }
}
