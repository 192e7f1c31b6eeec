/** Caches an expensive read whose result may be slightly stale, and shares it between callers. */
import type { Platform } from './platform.ts'

export function cache<T>(platform: Platform, forMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | null = null
  return () => {
    const at = platform.monotonic()
    if (last !== null && at - last.at < forMs) return last.answer
    const answer = read()
    last = { at, answer }
    // A failed read is not cached. If a newer read has replaced it, that one stays.
    answer.catch(() => {
      if (last?.answer === answer) last = null
    })
    return answer
  }
}

/**
 * Like `cache`, but no caller waits for a renewal: after `forMs`, a caller starts the next read and gets the
 * last answer, for up to `staleMs` more. Only callers that find nothing younger wait.
 */
export function renewed<T>(
  platform: Platform,
  { forMs, staleMs }: { readonly forMs: number; readonly staleMs: number },
  read: () => Promise<T>,
): () => Promise<T> {
  const next = cache(platform, forMs, read)
  let known: { readonly at: number; readonly reading: Promise<T>; readonly answer: T } | null = null
  return () => {
    const at = platform.monotonic()
    const reading = next()
    reading.then(
      (answer) => {
        if (known?.reading !== reading) known = { at, reading, answer }
      },
      // A caller that waits gets the error. The next one starts another read.
      () => {},
    )
    return known === null || at - known.at >= forMs + staleMs ? reading : Promise.resolve(known.answer)
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
