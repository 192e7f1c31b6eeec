/** Caches an expensive read whose result may be slightly stale, and shares it between callers. */
import type { Platform } from './platform.ts'

export function cache<T>(platform: Platform, forMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | null = null
  return () => {
    const at = platform.monotonic()
    if (last !== null && at - last.at < forMs) return last.answer
    const answer = read()
    last = { at, answer }
    // A failed read is not cached. It may be older than the cached one, which then stays.
    answer.catch(() => {
      if (last?.answer === answer) last = null
    })
    return answer
  }
}

/** The maximum number of cached questions. A further one evicts the oldest. */
const MOST_ASKED = 50

/** Like `cache`, but per question. Questions are compared by their JSON. */
export function cacheBy<Q, T>(
  platform: Platform,
  forMs: number,
  read: (question: Q) => Promise<T>,
): (question: Q) => Promise<T> {
  const asked = new Map<string, () => Promise<T>>()
  return (question) => {
    const key = JSON.stringify(question)
    const ask = asked.get(key) ?? cache(platform, forMs, () => read(question))
    asked.set(key, ask)
    const [first] = asked.keys()
    if (asked.size > MOST_ASKED && first !== undefined) asked.delete(first)
    return ask()
  }
}
