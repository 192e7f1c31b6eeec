/**
 * Server-sent events of new files: first the pending ones, or those after the last event id, then new
 * commits.
 */
import { feed, type FeedPage } from '../inbox/deliver/feed.ts'
import type { Inside } from '../inbox/inside.ts'

const PAGE = 100
/** Keeps proxies from closing an idle connection. */
const QUIET_MS = 15_000
const RETRY_MS = 2_000

export interface Listening {
  readonly mailbox: string
  /** The cursor, or null to begin with all pending files, and the parameter that it came in. */
  readonly after: { readonly text: string | null; readonly field: string }
  /** Whether the token is still valid, because a stream may stay open for days. */
  readonly isAllowed: () => Promise<boolean>
  /** Called when the stream ends for any reason. */
  readonly leave: () => void
}

/** Rejects for an invalid cursor before anything is sent. */
export async function events(inside: Inside, listening: Listening): Promise<Response> {
  const { mailbox, after, isAllowed, leave } = listening
  const pageAfter = (cursor: string | null): Promise<FeedPage> =>
    feed(inside, { mailbox, state: 'pending', after: cursor, limit: PAGE, field: after.field })
  let page = await pageAfter(after.text)
  let isFirst = true
  const gone = new AbortController()
  const text = new TextEncoder()
  /** Returns false at the end. */
  async function next(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    if (isFirst) controller.enqueue(text.encode(`retry: ${RETRY_MS}\n\n`))
    else {
      if (!page.more) await inside.live.wait(mailbox, page.seq, QUIET_MS, gone.signal)
      if (inside.live.isStopped() || !(await isAllowed())) return gone.signal.aborted
    }
    if (gone.signal.aborted) return true
    if (!isFirst) page = await pageAfter(page.cursor)
    isFirst = false
    const lines = page.files.map((file) => event(file.cursor, file))
    controller.enqueue(text.encode(lines.length === 0 ? ': quiet\n\n' : lines.join('')))
    return true
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (await next(controller)) return
          leave()
          controller.close()
        } catch (error) {
          leave()
          throw error
        }
      },
      cancel() {
        leave()
        gone.abort()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  })
}

function event(id: string, data: object): string {
  return `id: ${id}\nevent: file\ndata: ${JSON.stringify(data)}\n\n`
}
