/**
 * Counts what one holder has of one limit. The database stores one sum per holder and releases it as a whole.
 * So it is released when the last use in this process, including pending requests, has ended.
 */
import type { DrawResult, Permit } from '../job/limit/limit-handle.ts'

export type Holding = ReturnType<typeof holding>

/** `isOwn` is false when the same sum also covers a claim from a queue that uses this limit. */
export function holding(release: () => Promise<void>, isOwn: () => boolean) {
  let open = 0
  let isGranted = false
  let releasing: Promise<void> | null = null

  /** Counts one more request. Waits for a release in flight, which would also release the new permit. */
  async function begin(): Promise<void> {
    if (releasing === null) {
      open += 1
      return
    }
    await releasing
    // Other requests may have been made and released since, so check again.
    await begin()
  }

  return {
    begin,
    isHeld: () => isGranted,
    /** Whether no code relies on what the database may have recorded for this holder. */
    mayRelease: () => open === 1 && !isGranted && isOwn(),
    granted() {
      isGranted = true
    },
    /** Ends one request: it was released or refused. */
    async end() {
      open -= 1
      if (open > 0 || !isGranted || !isOwn()) return
      isGranted = false
      releasing = release().finally(() => {
        releasing = null
      })
      await releasing
    },
  }
}

/** The permit object that callers hold. */
export function permit({ limit, amount, key }: DrawResult, releasePermit: () => Promise<void>): Permit {
  let released: Promise<void> | null = null
  const release = (): Promise<void> => (released ??= releasePermit())
  return { limit, ...(key !== undefined && { key }), amount, release, [Symbol.asyncDispose]: release }
}
