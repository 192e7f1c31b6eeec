/** Reads server-sent events from the inbox, one file at a time, until the connection breaks. */
import { ask, badAnswer, chunksOf, type Line } from './ask.ts'
import { type Listed, listedOf } from './listing.ts'

export interface FileEvent {
  /** Null for an invalid entry. */
  readonly file: Listed | null
  /** Where to resume after a broken connection. */
  readonly cursor: string | null
}

/** The inbox sends at least a comment every 15 s. */
const SILENT_MS = 45_000
const LONGEST_EVENT = 64 * 1_024

/** Calls `onEvent` for each event, in order. Resolves when the server ends the stream. */
export async function listen(
  line: Line,
  { after, signal }: { readonly after: string | null; readonly signal: AbortSignal },
  onEvent: (event: FileEvent) => void,
): Promise<void> {
  const headers = { accept: 'text/event-stream', ...(after !== null && { 'last-event-id': after }) }
  await ask(line, '/events', { timeoutMs: SILENT_MS, signal, headers }, async (response, alive) => {
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream'))
      throw badAnswer('is not an event stream')
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of chunksOf(response, alive)) {
      text += decoder.decode(chunk, { stream: true })
      const events = text.split(/\r?\n\r?\n/)
      text = events.pop() ?? ''
      if (text.length > LONGEST_EVENT) throw badAnswer('has an event that is too long')
      for (const event of events) if (/^event: ?file$/m.test(event)) onEvent(eventOf(event))
    }
  })
}

function eventOf(event: string): FileEvent {
  const cursor = /^id: ?([\x21-\x7e]{1,500})\r?$/m.exec(event)?.[1] ?? null
  try {
    return { file: listedOf(JSON.parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? '')), cursor }
  } catch {
    return { file: null, cursor }
  }
}
