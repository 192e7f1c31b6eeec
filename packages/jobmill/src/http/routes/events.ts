/** What happens now, as server-sent events: entries of the timeline of all processes, and the counts of queues whenever they change. */
import { z } from '@hono/zod-openapi'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { AUDIT } from '../../observe/timeline.ts'
import { route, type Routes, type RouteTools, seenBy } from '../app.ts'
import { mayDo, type Who } from '../access/roles.ts'
import type { News } from '../feed.ts'

const events = route('viewer', 'events.listen', {
  method: 'get',
  path: '/events',
  summary: 'The timeline and the counts as they change',
  request: {
    headers: z.object({
      'last-event-id': z
        .string()
        .regex(/^\d{1,15}$/)
        .optional()
        .openapi({ description: 'goes on after this entry of the timeline' }),
    }),
  },
  responses: {
    200: {
      description: 'event: timeline, with the number of the entry as its id; event: counts; event: gap',
      content: { 'text/event-stream': { schema: z.string() } },
    },
  },
})

/** What is kept for one who reads slowly; then they are sent away, to come again. */
const MOST_WAITING = 1_000
/** What one who was away is told; of the rest the timeline tells. */
const MOST_MISSED = 500

export const eventRoutes: Routes = (api, tools) => {
  api.openapi(events, (c) => {
    // Somebody who only asks whether there is such a route would never be heard leaving.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
    const after = c.req.valid('header')['last-event-id']
    const who = c.get('who')
    const close = tools.streams.open(who?.name ?? '')
    if (typeof close !== 'function') return close
    return streamSSE(c, (stream) => tellNews(stream, after, who, tools).finally(close))
  })
}

async function tellNews(
  stream: SSEStreamingApi,
  after: string | undefined,
  who: Who | null,
  { feed, redacted }: RouteTools,
): Promise<void> {
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

  async function write(news: News): Promise<void> {
    if (news.type === 'quiet') return void (await stream.write(': quiet\n\n'))
    if (news.type === 'counts') return stream.writeSSE({ event: 'counts', data: JSON.stringify(news.counts) })
    const { entry } = news
    // Who did what is not for everybody.
    if (entry.type === AUDIT && (who === null || !mayDo(who, 'operator'))) return
    // What was missed and what came meanwhile overlap.
    if (sent.has(entry.n)) return
    sent.add(entry.n)
    await stream.writeSSE({
      event: 'timeline',
      id: String(entry.n),
      data: JSON.stringify(seenBy(who, entry, redacted)),
    })
  }

  try {
    // So that the reader knows at once that somebody answers.
    await stream.writeSSE({ event: 'hello', data: '{}' })
    if (after !== undefined) {
      const missed = await feed.since(Number(after), MOST_MISSED)
      if (!missed.isAll) await stream.writeSSE({ event: 'gap', data: '{}' })
      for (const entry of missed.entries) await write({ type: 'timeline', entry })
    }
    while (!stream.aborted) {
      const news = waiting.shift()
      if (news !== undefined) await write(news)
      else await new Promise<void>((resolve) => (wake = resolve))
      // Only what may come a second time need be remembered.
      if (sent.size > 2 * MOST_WAITING) sent.clear()
    }
  } finally {
    leave()
  }
}
