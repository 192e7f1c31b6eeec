/** What the inbox says as it happens (Server-Sent Events), one file at a time, until the line breaks. */
import { ask, badAnswer, chunksOf, type Line } from './ask.ts'
import { type Listed, listedOf } from './listing.ts'

export interface Heard {
  /** Null for one that cannot be used. */
  readonly file: Listed | null
  /** What to go on after when the line breaks. */
  readonly cursor: string | null
}

/** The inbox says something every 15 s, if only that it is there. */
const SILENT_MS = 45_000
const LONGEST_EVENT = 64 * 1_024

/** `hear` is called for each, in order. Resolves when the other side ends it. */
export async function listen(
  line: Line,
  { after, signal }: { readonly after: string | null; readonly signal: AbortSignal },
  hear: (heard: Heard) => void,
): Promise<void> {
  const headers = { accept: 'text/event-stream', ...(after !== null && { 'last-event-id': after }) }
  await ask(line, '/events', { timeoutMs: SILENT_MS, signal, headers }, async (response, alive) => {
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream'))
      throw badAnswer('is no stream of events')
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of chunksOf(response, alive)) {
      text += decoder.decode(chunk, { stream: true })
      const events = text.split(/\r?\n\r?\n/)
      text = events.pop() ?? ''
      if (text.length > LONGEST_EVENT) throw badAnswer('has an event without an end')
      for (const event of events) if (/^event: ?file$/m.test(event)) hear(heardOf(event))
    }
  })
}

function heardOf(event: string): Heard {
  const cursor = /^id: ?([\x21-\x7e]{1,500})\r?$/m.exec(event)?.[1] ?? null
  try {
    return { file: listedOf(JSON.parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? '')), cursor }
  } catch {
    return { file: null, cursor }
  }
}
