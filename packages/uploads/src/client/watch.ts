/**
 * Discovers new files, by long polling or server-sent events. All unacknowledged files are also listed
 * regularly.
 */
import { performance } from 'node:perf_hooks'
import type { Crew } from './crew.ts'
import { ask, badAnswer, chunksOf } from './http/ask.ts'
import { ClientError, textOf } from './http/client-error.ts'
import { type Listed, listedOf, listPage, readLimits } from './http/listing.ts'
import type { Settings } from './options.ts'
import { delayAfter, sleep } from './time.ts'
import { type Trouble, troubleOf } from './trouble.ts'

export interface WatchTools {
  readonly settings: Settings
  readonly crew: Crew
  readonly setLimit: (maxFileBytes: number) => void
  readonly signal: AbortSignal
}

/** Lists all unacknowledged files from the beginning, and reads the current limits. */
export async function listAll({ settings, setLimit, signal }: WatchTools): Promise<Listed[]> {
  setLimit((await readLimits(settings.line, signal)).maxFileBytes)
  const all: Listed[] = []
  let after: string | null = null
  for (let more = true; more;) {
    const page = await listPage(settings.line, { after, waitMs: 0, signal })
    tellBad(settings, page.bad)
    all.push(...page.files)
    after = page.cursor
    more = page.more
  }
  return all
}

const PAUSE_MS = 1_000

/** Follows new files, and resumes at the last cursor after a failure. */
export async function follow(tools: WatchTools): Promise<void> {
  const { settings, setLimit, signal } = tools
  let after: string | null = null
  let failures = 0
  let cursorsLost = 0
  const took = (cursor: string): void => {
    if (after !== null) cursorsLost = 0
    failures = 0
    after = cursor
  }
  while (!signal.aborted) {
    try {
      if (after === null) setLimit((await readLimits(settings.line, signal)).maxFileBytes)
      if (settings.by === 'poll') await poll(tools, after, took)
      else {
        await listen(tools, after, took)
        // The server ended the stream cleanly, probably for a restart.
        await sleep(delayAfter((failures += 1), settings.backoff), signal)
      }
    } catch (error) {
      if (signal.aborted) return
      // An expired cursor restarts the list from the beginning, which misses nothing.
      if (after !== null && error instanceof ClientError && [400, 410].includes(error.status ?? 0)) {
        after = null
        cursorsLost += 1
        if (cursorsLost > 1) await sleep(delayAfter(cursorsLost, settings.backoff), signal)
      } else {
        failures += 1
        const askedMs = error instanceof ClientError ? error.retryAfterMs : 0
        const delayMs = delayAfter(failures, settings.backoff, askedMs)
        settings.onTrouble(listTrouble(error, failures, delayMs))
        await sleep(delayMs, signal)
      }
    }
  }
}

/** One long poll. */
async function poll(
  { settings, crew, signal }: WatchTools,
  after: string | null,
  took: (cursor: string) => void,
): Promise<void> {
  const { line, waitMs } = settings
  const askedAt = performance.now()
  const { files, bad, cursor, more } = await listPage(line, { after, waitMs, signal })
  tellBad(settings, bad)
  for (const file of files) crew.offer(file, false)
  took(cursor)
  // A proxy may answer long polls early, so wait here instead.
  const isEarly = !more && files.length === 0 && performance.now() - askedAt < waitMs / 2
  if (isEarly) await sleep(Math.min(PAUSE_MS, waitMs), signal)
}

/** The inbox sends at least a comment every 15 s. */
const SILENT_MS = 45_000
const LONGEST_EVENT = 64 * 1_024

/** Listens for server-sent events until the server ends the stream. */
async function listen(
  { settings, crew, signal }: WatchTools,
  after: string | null,
  took: (cursor: string) => void,
): Promise<void> {
  const headers = { accept: 'text/event-stream', ...(after !== null && { 'last-event-id': after }) }
  await ask(settings.line, '/events', { timeoutMs: SILENT_MS, signal, headers }, async (response, alive) => {
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream'))
      throw badAnswer('is not an event stream')
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of chunksOf(response, alive)) {
      text += decoder.decode(chunk, { stream: true })
      const events = text.split(/\r?\n\r?\n/)
      text = events.pop() ?? ''
      if (text.length > LONGEST_EVENT) throw badAnswer('has an event that is too long')
      for (const event of events.filter((one) => /^event: ?file$/m.test(one))) {
        const file = fileIn(event)
        if (file === null) tellBad(settings, 1)
        else crew.offer(file, false)
        const [, cursor] = /^id: ?([\x21-\x7e]{1,500})\r?$/m.exec(event) ?? []
        if (cursor !== undefined) took(cursor)
      }
    }
  })
}

/** Null for an invalid entry. */
function fileIn(event: string): Listed | null {
  try {
    return listedOf(JSON.parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? ''))
  } catch {
    return null
  }
}

/** Lists all files from time to time, to retry abandoned files and find those that were missed. */
export async function relist(tools: WatchTools): Promise<void> {
  const { settings, crew, signal } = tools
  for (let failures = 0; ;) {
    await sleep(failures > 0 ? delayAfter(failures, settings.backoff) : settings.relistMs, signal)
    if (signal.aborted) return
    try {
      const files = await listAll(tools)
      for (const file of files) crew.offer(file, true)
      crew.forgetAllBut(new Set(files.map(({ id }) => id)))
      failures = 0
    } catch {
      // `follow` has the same problem and reports it.
      failures += 1
    }
  }
}

export function listTrouble(error: unknown, attempts: number, againInMs: number | null): Trouble {
  const isToken = error instanceof ClientError && error.isToken
  const code = isToken ? 'TOKEN_REFUSED' : 'LIST_FAILED'
  return troubleOf(code, textOf(error), { attempts, againInMs, cause: error })
}

function tellBad({ onTrouble }: Settings, bad: number): void {
  if (bad > 0)
    onTrouble(troubleOf('ENTRY_BAD', `the inbox listed ${bad} invalid ${bad === 1 ? 'file' : 'files'}`))
}
