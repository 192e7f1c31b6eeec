/**
 * Long polling: returns a page of the feed, and holds an empty one open until files arrive or the wait ends.
 */
import type { Platform } from 'jobmill'
import { feed, type FeedPage, type FeedRequest } from '../inbox/deliver/feed.ts'
import type { Inside } from '../inbox/inside.ts'

export async function waitForPage(
  inside: Inside,
  request: FeedRequest,
  {
    waitMs,
    signal,
    platform,
    enter,
    mayStill,
  }: {
    readonly waitMs: number
    readonly signal: AbortSignal
    readonly platform: Platform
    /**
     * Called before waiting. Returns the function to call afterwards; throws if too many requests are
     * waiting.
     */
    readonly enter: () => () => void
    /** Rejects if the caller has lost access. */
    readonly mayStill: () => Promise<unknown>
  },
): Promise<FeedPage> {
  const until = platform.monotonic() + waitMs
  let leave: (() => void) | undefined
  try {
    for (;;) {
      const page = await feed(inside, request)
      const leftMs = until - platform.monotonic()
      if (page.files.length > 0 || leftMs <= 0 || signal.aborted || inside.live.isStopped()) return page
      leave ??= enter()
      await inside.live.wait(request.mailbox, page.seq, leftMs, signal)
      // Check access before reading again: a revoked token must not see new files.
      await mayStill()
    }
  } finally {
    leave?.()
  }
}
