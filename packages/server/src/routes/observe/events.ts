/** Server-sent events: timeline entries of all processes, and queue counts when they change. */
import { z } from '@hono/zod-openapi'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Context } from 'hono'
import { AUDIT } from 'jobmill/internal'
import { places } from '../../access/places.ts'
import { route, type Routes, type RouteTools, seesAll } from '../../app.ts'
import { isAnswer } from '../../apps.ts'
import type { Env } from '../../env.ts'
import type { News } from '../../feed.ts'
import { problem } from '../../problem.ts'

const events = route('viewer', 'events.listen', 'get /events', {
  summary: 'Stream timeline entries and queue counts as server-sent events',
  request: {
    headers: z.object({
      'last-event-id': z
        .string()
        .regex(/^\d{1,15}$/)
        .optional()
        .openapi({ description: 'continue after this timeline entry' }),
    }),
  },
  responses: {
    200: {
      description: 'event: timeline (its id is the entry number), event: counts, event: gap',
      content: { 'text/event-stream': { schema: z.string() } },
    },
  },
})

/** The buffer for a slow reader. When it is full, the stream is closed so that the reader reconnects. */
const MOST_WAITING = 1_000
/** How long a stream trusts the last authentication. A stream may stay open longer than its session. */
const CHECK_AGAIN_MS = 10_000
/** How many missed entries a reader gets when it reconnects; the timeline has the rest. */
const MOST_MISSED = 500

export const routes: Routes = (api, tools) => {
  const { streamsPerCaller, maxStreams } = tools.settings
  // Each stream holds a connection and a buffer.
  const { open } = places({ perCaller: streamsPerCaller, total: maxStreams })
  api.openapi(events, (c) => {
    // A HEAD request opens no stream, because it never signals that its reader has left.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
    const after = c.req.valid('header')['last-event-id']
    const caller = c.get('who')?.name ?? ''
    const close = open(caller)
    if (close === 'caller')
      return problem('TOO_MANY', {
        detail: `${caller} has too many event streams open (max ${streamsPerCaller} per caller)`,
        fix: 'Close one first',
      })
    if (close === 'total')
      return problem('BUSY', {
        detail: `too many event streams open in this process (max ${maxStreams})`,
        fix: 'Try again in a moment, or use another process',
      })
    return streamSSE(c, (stream) => {
      // At once, because an authentication may be in progress.
      stream.onAbort(close)
      return streamNews(stream, c, after, tools).finally(close)
    })
  })
}

async function streamNews(
  stream: SSEStreamingApi,
  c: Context<Env>,
  after: string | undefined,
  { feed, redactFor, now }: RouteTools,
): Promise<void> {
  const identity = c.get('identity')
  let who = c.get('who')
  let checkedAt = now()
  const waiting: News[] = []
  const sent = new Set<number>()
  let wake: (() => void) | null = null
  const ends = [
    feed.listen((news) => {
      waiting.push(news)
      if (waiting.length > MOST_WAITING) stream.abort()
      wake?.()
    }),
    feed.onStop(() => stream.abort()),
  ]
  const leave = (): void => {
    for (const end of ends) end()
    waiting.length = 0
    wake?.()
  }
  stream.onAbort(leave)

  /** Returns false if the reader is no longer authenticated. Applies a changed role. */
  async function isAllowed(): Promise<boolean> {
    if (now() - checkedAt < CHECK_AGAIN_MS) return true
    const known = await identity.authenticate(c.req.raw)
    checkedAt = now()
    if (known === null || isAnswer(known)) return false
    who = known
    return true
  }

  async function write(news: News): Promise<void> {
    if (news.type === 'quiet') return void (await stream.write(': quiet\n\n'))
    if (news.type === 'counts') return stream.writeSSE({ event: 'counts', data: JSON.stringify(news.counts) })
    const { entry } = news
    // Audit entries are for operators only.
    if (entry.type === AUDIT && !seesAll(who)) return
    // Missed entries and new ones overlap.
    if (sent.has(entry.n)) return
    sent.add(entry.n)
    await stream.writeSSE({
      event: 'timeline',
      id: String(entry.n),
      data: JSON.stringify(redactFor(who, entry)),
    })
  }

  /** A function of its own, so that the stream does not keep the entries while it is open. */
  async function writeMissed(n: number): Promise<void> {
    const { entries, isAll } = await feed.since(n, MOST_MISSED, seesAll(who))
    if (!isAll) await stream.writeSSE({ event: 'gap', data: '{}' })
    for (const entry of entries) await write({ type: 'timeline', entry })
  }

  try {
    // Shows the reader at once that the stream is open.
    await stream.writeSSE({ event: 'hello', data: '{}' })
    if (after !== undefined) await writeMissed(Number(after))
    while (!stream.aborted) {
      const news = waiting.shift()
      if (news !== undefined) {
        if (!(await isAllowed())) return
        await write(news)
      } else await new Promise<void>((resolve) => (wake = resolve))
      // Only recent entries can come twice.
      if (sent.size > 2 * MOST_WAITING) sent.clear()
    }
  } finally {
    leave()
  }
}
