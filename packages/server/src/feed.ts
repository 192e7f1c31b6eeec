/** Polls the store once per second for all event streams together, and not at all while no stream is open. */
import type { Mill, Platform } from 'jobmill'
import { AUDIT, KEPT_TYPES, PATCHED, type TimelineEntry } from 'jobmill/internal'
import type { QueueCounts, Timer } from 'jobmill/store'

export type News =
  | { readonly type: 'timeline'; readonly entry: TimelineEntry }
  | { readonly type: 'counts'; readonly counts: readonly QueueCounts[] }
  /** Sent after a quiet period, so that proxies do not close the connection. */
  | { readonly type: 'quiet' }

export interface Missed {
  readonly entries: readonly TimelineEntry[]
  readonly isAll: boolean
}

export type Feed = ReturnType<typeof feed>

const EVERY_MS = 1_000
const QUIET_POLLS = 15
const PAGE = 100
/** Most polls read only entries that are newer than the last one, which are few. */
const NEWEST = 10
/** Every so many polls, the feed also looks for entries that became visible late. */
const LATE_POLLS = 5
/** A process may have 1,000 streams, and each keeps its missed entries until its reader has received them. */
const MOST_MISSED_BYTES = 256 * 1024
/** One action may patch a million jobs. Its own entry in the audit log is enough for a stream. */
const STREAMED = KEPT_TYPES.filter((type) => type !== PATCHED)
const WITHOUT_AUDIT = STREAMED.filter((type) => type !== AUDIT)
/**
 * Numbers are assigned before the commit, so an entry may become visible after up to this many later ones.
 */
const LATE = 200

export function feed(mill: Pick<Mill, 'timeline' | 'counts'>, platform: Platform) {
  const listeners = new Set<(news: News) => void>()
  const ends = new Set<() => void>()
  /** The numbers of recently sent entries, to skip them in the overlap. */
  let sent = new Set<number>()
  let last: number | null = null
  let counted = ''
  let quiet = 0
  let polls = 0
  let timer: Timer | null = null
  let isPolling = false
  let isStopped = false
  /** Reads in progress: readers often reconnect at once, and after the same entry. */
  const reads = new Map<string, Promise<Missed>>()

  /**
   * Entries after this number, oldest first, for a reader that reconnects. Only the latest `most`, and only
   * the latest 256 KiB, when there are more.
   */
  function since(n: number, most: number, seesAudit: boolean): Promise<Missed> {
    const key = [n, most, seesAudit].join()
    const shared = reads.get(key)
    if (shared !== undefined) return shared
    const types = seesAudit ? STREAMED : WITHOUT_AUDIT
    const read = readSince(n, most, { mostBytes: MOST_MISSED_BYTES, types })
    const made = read.finally(() => {
      if (reads.get(key) === made) reads.delete(key)
    })
    reads.set(key, made)
    return made
  }

  async function readSince(
    n: number,
    most: number,
    {
      mostBytes = Number.POSITIVE_INFINITY,
      limit = PAGE,
      ...types
    }: { mostBytes?: number; limit?: number; types?: readonly string[] } = {},
  ): Promise<Missed> {
    const found: TimelineEntry[] = []
    let cursor: string | null = null
    let bytes = 0
    do {
      const page = await mill.timeline({ ...types, limit, ...(cursor !== null && { cursor }) })
      const fresh = page.events.filter((entry) => entry.n > n)
      for (const entry of fresh) {
        if (mostBytes !== Number.POSITIVE_INFINITY) bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
        if (bytes > mostBytes) return { entries: found.slice(0, most).toReversed(), isAll: false }
        found.push(entry)
      }
      cursor = fresh.length < page.events.length ? null : page.next
    } while (cursor !== null && found.length < most)
    return { entries: found.slice(0, most).toReversed(), isAll: cursor === null && found.length <= most }
  }

  async function poll(): Promise<void> {
    if (last === null) {
      const { entries } = await readSince(0, LATE)
      last = entries.at(-1)?.n ?? 0
      sent = new Set(entries.map(({ n }) => n))
    }
    polls += 1
    const looksBack = polls % LATE_POLLS === 0
    const from = looksBack ? last - LATE : last
    const { entries } = await readSince(from, 10 * LATE, { limit: looksBack ? PAGE : NEWEST })
    for (const entry of entries) {
      if (sent.has(entry.n)) continue
      sent.add(entry.n)
      last = Math.max(last, entry.n)
      if (entry.type !== PATCHED) emit({ type: 'timeline', entry })
    }
    for (const n of sent) if (n <= last - LATE) sent.delete(n)
    const counts = await mill.counts()
    const text = JSON.stringify(counts)
    quiet += 1
    if (quiet >= QUIET_POLLS) emit({ type: 'quiet' })
    if (text === counted) return
    counted = text
    emit({ type: 'counts', counts })
  }

  function emit(news: News): void {
    quiet = 0
    // A reader that connects from now on does not get this entry, and an earlier read may lack it.
    if (news.type === 'timeline') reads.clear()
    for (const onNews of listeners) onNews(news)
  }

  function pollAndRepeat(): void {
    if (isPolling) return
    isPolling = true
    const again = (): void => {
      isPolling = false
      timer = null
      if (isStopped) return
      if (listeners.size > 0) timer = platform.timer(EVERY_MS, pollAndRepeat, { unref: true })
      else {
        // The next reader gets only entries that are written after it connects.
        last = null
        reads.clear()
      }
    }
    poll().then(again, again)
  }

  return {
    since,
    /** Subscribes until the returned function is called. */
    listen(onNews: (news: News) => void): () => void {
      listeners.add(onNews)
      // A new reader gets the current counts, even if they have not changed.
      counted = ''
      if (timer === null && !isStopped) pollAndRepeat()
      return () => void listeners.delete(onNews)
    },
    /** Stops polling and runs the `onStop` callbacks. */
    stop(): void {
      isStopped = true
      timer?.cancel()
      for (const end of ends) end()
    },
    /** Registers a callback for `stop`. */
    onStop(act: () => void): () => void {
      ends.add(act)
      return () => void ends.delete(act)
    },
  }
}
