/** Bounds the memory of all request bodies that this process holds at once, across all callers. */

export type ByteBudget = ReturnType<typeof byteBudget>

/** The bytes that one request holds. */
export type Share = ReturnType<ByteBudget['open']>

export function byteBudget(mostBytes: number) {
  let held = 0
  return {
    open: () => {
      let own = 0
      return {
        /**
         * Returns false and takes nothing when the budget would be exceeded. A request that is alone may
         * exceed it.
         */
        take: (bytes: number): boolean => {
          if (held > own && held + bytes > mostBytes) return false
          held += bytes
          own += bytes
          return true
        },
        /** Returns all bytes that were taken. */
        release: (): void => {
          held -= own
          own = 0
        },
      }
    },
  }
}
