/** How many bytes of request bodies this process holds at once, for all callers together. */

/** What one request holds of it. */
export interface Share {
  /** False, and nothing is taken, where that would be more than there is. */
  readonly take: (bytes: number) => boolean
  /** Gives back all that was taken. */
  readonly release: () => void
}

export interface ByteBudget {
  readonly open: () => Share
}

export function byteBudget(mostBytes: number): ByteBudget {
  let held = 0
  return {
    open() {
      let own = 0
      return {
        take(bytes) {
          if (held + bytes > mostBytes) return false
          held += bytes
          own += bytes
          return true
        },
        release() {
          held -= own
          own = 0
        },
      }
    },
  }
}
