/** A page of the feed; one that would be empty waits for what comes, as long as it was asked to. */
import type { Platform } from 'jobmill'
import { feed, type FeedPage, type FeedRequest } from '../inbox/feed.ts'
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
    /** Called before it waits. Returns what to call when it no longer does; throws when too many wait. */
    readonly enter: () => () => void
    /** Rejects when whoever asked may not any more. */
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
      // Before it is looked again: what came after a token was taken back is not for who has it.
      await mayStill()
    }
  } finally {
    leave?.()
  }
}
