/** What costs much to find out and may be a little old: asked for once in a while, however many want to know. */
import type { Platform } from '../platform/platform.ts'

export function remembered<T>(platform: Platform, forMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | null = null
  return () => {
    const at = platform.monotonic()
    if (last !== null && at - last.at < forMs) return last.answer
    const answer = read()
    last = { at, answer }
    // What failed is asked for again.
    answer.catch(() => (last = null))
    return answer
  }
}
