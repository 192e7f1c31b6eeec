/** What costs much to find out and may be a little old: asked for once in a while, however many want to know. */
import type { Platform } from './platform.ts'

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

/** Different questions at a time; more push out the one that was asked first. */
const MOST_ASKED = 50

/** The same for each of several questions, told apart by their JSON. */
export function rememberedBy<Q, T>(
  platform: Platform,
  forMs: number,
  read: (question: Q) => Promise<T>,
): (question: Q) => Promise<T> {
  const asked = new Map<string, () => Promise<T>>()
  return (question) => {
    const key = JSON.stringify(question)
    const ask = asked.get(key) ?? remembered(platform, forMs, () => read(question))
    asked.set(key, ask)
    const [first] = asked.keys()
    if (asked.size > MOST_ASKED && first !== undefined) asked.delete(first)
    return ask()
  }
}
