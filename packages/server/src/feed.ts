/** Polls the store once per second for all event streams together, and not at all while no stream is open. */
import type { Mill, Platform } from 'jobmill'
import type { TimelineEntry } from 'jobmill/internal'
import type { QueueCounts, Timer } from 'jobmill/store'

export type News =
  | { readonly type: 'timeline'; readonly entry: TimelineEntry }
  | { readonly type: 'counts'; readonly counts: readonly QueueCounts[] }
  /** Sent after a quiet period, so that proxies do not close the connection. */
  | { readonly type: 'quiet' }

export interface Feed {
  /** Subscribes until the returned function is called. */
  readonly listen: (onNews: (news: News) => void) => () => void
  /**
   * Entries after this number, oldest first, for a reader that reconnects. Only the latest `most` when there
   * are more.
   */
  readonly since: (n: number, most: number) => Promise<{ entries: TimelineEntry[]; isAll: boolean }>
  /** Stops polling and runs the `onStop` callbacks. */
  readonly stop: () => void
  /** Registers a callback for `stop`. */
  readonly onStop: (act: () => void) => () => void
}

const EVERY_MS = 1_000
const QUIET_POLLS = 15
const PAGE = 100
/**
 * Numbers are assigned before the commit, so an entry may become visible after up to this many later ones.
 */
const LATE = 200

export function feed(mill: Pick<Mill, 'timeline' | 'counts'>, platform: Platform): Feed {
  const listeners = new Set<(news: News) => void>()
  const ends = new Set<() => void>()
  /** The numbers of recently sent entries, to skip them in the overlap. */
  let sent = new Set<number>()
  let last: number | null = null
  let counted = ''
  let quiet = 0
  let timer: Timer | null = null
  let isPolling = false
  let isStopped = false

  async function since(n: number, most: number): Promise<{ entries: TimelineEntry[]; isAll: boolean }> {
    const found: TimelineEntry[] = []
    let cursor: string | null = null
    do {
      const page = await mill.timeline({ limit: PAGE, ...(cursor !== null && { cursor }) })
      const fresh = page.events.filter((entry) => entry.n > n)
      found.push(...fresh)
      cursor = fresh.length < page.events.length ? null : page.next
    } while (cursor !== null && found.length < most)
    return { entries: found.slice(0, most).toReversed(), isAll: cursor === null && found.length <= most }
  }

  async function poll(): Promise<void> {
    if (last === null) {
      const { entries } = await since(0, LATE)
      last = entries.at(-1)?.n ?? 0
      sent = new Set(entries.map(({ n }) => n))
    }
    const { entries } = await since(last - LATE, 10 * LATE)
    for (const entry of entries) {
      if (sent.has(entry.n)) continue
      sent.add(entry.n)
      last = Math.max(last, entry.n)
      emit({ type: 'timeline', entry })
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
      // The next reader gets only entries that are written after it connects.
      else last = null
    }
    poll().then(again, again)
  }

  return {
    since,
    listen(onNews) {
      listeners.add(onNews)
      // A new reader gets the current counts, even if they have not changed.
      counted = ''
      if (timer === null && !isStopped) pollAndRepeat()
      return () => void listeners.delete(onNews)
    },
    stop() {
      isStopped = true
      timer?.cancel()
      for (const end of ends) end()
    },
    onStop(act) {
      ends.add(act)
      return () => void ends.delete(act)
    },
  }
}
