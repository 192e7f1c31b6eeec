/** What happens now, for everybody who listens: one look at the store each second however many they are, and none while there is nobody. */
import type { Platform, Timer } from '../platform/platform.ts'
import type { Mill } from '../runtime/mill.ts'
import type { TimelineEntry } from '../runtime/observation.ts'
import type { QueueCounts } from '../store/queue-record.ts'

export type News =
  | { readonly type: 'timeline'; readonly entry: TimelineEntry }
  | { readonly type: 'counts'; readonly counts: readonly QueueCounts[] }
  /** Nothing happened for a while: so that nobody in between takes the connection for dead. */
  | { readonly type: 'quiet' }

export interface Feed {
  /** Until the returned function is called. */
  readonly listen: (hear: (news: News) => void) => () => void
  /** What came after this number, oldest first, for one who was away: the newest, when there is more than `most`. */
  readonly since: (n: number, most: number) => Promise<{ entries: TimelineEntry[]; isAll: boolean }>
  /** Nobody hears anything any more. */
  readonly stop: () => void
  /** Called when it stops. */
  readonly onStop: (act: () => void) => () => void
}

const EVERY_MS = 1_000
const QUIET_LOOKS = 15
const PAGE = 100
/** Numbers are given before the commit: one that comes after so many others is still found. */
const LATE = 200

export function feed(mill: Pick<Mill, 'timeline' | 'counts'>, platform: Platform): Feed {
  const listeners = new Set<(news: News) => void>()
  const ends = new Set<() => void>()
  /** The numbers that were told, as far back as anything can still come. */
  let told = new Set<number>()
  let last: number | null = null
  let counted = ''
  let quiet = 0
  let timer: Timer | null = null
  let isLooking = false
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

  async function look(): Promise<void> {
    if (last === null) {
      const { entries } = await since(0, LATE)
      last = entries.at(-1)?.n ?? 0
      told = new Set(entries.map(({ n }) => n))
    }
    const { entries } = await since(last - LATE, 10 * LATE)
    for (const entry of entries) {
      if (told.has(entry.n)) continue
      told.add(entry.n)
      last = Math.max(last, entry.n)
      tell({ type: 'timeline', entry })
    }
    for (const n of told) if (n <= last - LATE) told.delete(n)
    const counts = await mill.counts()
    const text = JSON.stringify(counts)
    quiet += 1
    if (quiet >= QUIET_LOOKS) tell({ type: 'quiet' })
    if (text === counted) return
    counted = text
    tell({ type: 'counts', counts })
  }

  function tell(news: News): void {
    quiet = 0
    for (const hear of listeners) hear(news)
  }

  function lookAndAgain(): void {
    if (isLooking) return
    isLooking = true
    const again = (): void => {
      isLooking = false
      timer = null
      if (isStopped) return
      if (listeners.size > 0) timer = platform.timer(EVERY_MS, lookAndAgain, { unref: true })
      // Whoever comes next hears what happens from then on.
      else last = null
    }
    look().then(again, again)
  }

  return {
    since,
    listen(hear) {
      listeners.add(hear)
      // A newcomer gets the counts as they are, whoever heard them already.
      counted = ''
      if (timer === null && !isStopped) lookAndAgain()
      return () => void listeners.delete(hear)
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
