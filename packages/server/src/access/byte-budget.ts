/** Bounds the bytes of request bodies that this process holds at once, across all callers. */

/** The bytes that one request holds. */
export interface Share {
  /** Returns false and takes nothing when the budget would be exceeded. */
  readonly take: (bytes: number) => boolean
  /** Returns all bytes that were taken. */
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
