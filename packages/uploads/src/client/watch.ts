/**
 * Discovers new files, by long polling or server-sent events. All unacknowledged files are also listed
 * regularly.
 */
import { performance } from 'node:perf_hooks'
import { ClientError, textOf } from './http/client-error.ts'
import type { Crew } from './crew.ts'
import { listen } from './http/events.ts'
import { type Listed, listPage, readLimits } from './http/listing.ts'
import type { Settings } from './options.ts'
import { delayAfter, sleep } from './time.ts'
import type { Trouble, TroubleCode } from './trouble.ts'

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

/** Lists from the beginning, then polls for new files. */
export async function poll(tools: WatchTools): Promise<void> {
  const { settings, crew, signal } = tools
  const { line, waitMs, relistMs } = settings
  let after: string | null = null
  let relistAt = 0
  let failures = 0
  let cursorsLost = 0
  /** The ids seen while a complete list is being read. */
  let seen: Set<string> | null = null
  while (!signal.aborted) {
    try {
      if (performance.now() >= relistAt) {
        after = null
        seen = new Set()
        relistAt = performance.now() + relistMs
        tools.setLimit((await readLimits(line, signal)).maxFileBytes)
      }
      const askedAt = performance.now()
      const asked = Math.min(waitMs, Math.max(0, relistAt - askedAt))
      const page = await listPage(line, { after, waitMs: asked, signal })
      failures = 0
      if (after !== null) cursorsLost = 0
      tellBad(settings, page.bad)
      for (const file of page.files) {
        crew.offer(file, seen !== null)
        seen?.add(file.id)
      }
      after = page.cursor
      if (page.more) continue
      if (seen !== null) crew.forgetAllBut(seen)
      seen = null
      // A proxy may answer long polls early, so wait here instead.
      const isEarly = page.files.length === 0 && performance.now() - askedAt < asked / 2
      if (isEarly) await sleep(Math.min(PAUSE_MS, asked), signal)
    } catch (error) {
      if (signal.aborted) return
      // An expired cursor restarts the list from the beginning, which misses nothing.
      const isCursor =
        after !== null && error instanceof ClientError && [400, 410].includes(error.status ?? 0)
      relistAt = isCursor || after === null ? 0 : relistAt
      if (isCursor) {
        cursorsLost += 1
        if (cursorsLost > 1) await sleep(delayAfter(cursorsLost, settings.backoff), signal)
        continue
      }
      await troubled(settings, error, (failures += 1), signal)
    }
  }
}

/** Listens for events, and resumes after a broken connection. */
export async function listenOn(tools: WatchTools): Promise<void> {
  const { settings, crew, setLimit, signal } = tools
  let after: string | null = null
  let failures = 0
  while (!signal.aborted) {
    try {
      if (after === null) setLimit((await readLimits(settings.line, signal)).maxFileBytes)
      await listen(settings.line, { after, signal }, ({ file, cursor }) => {
        failures = 0
        if (file === null) tellBad(settings, 1)
        else crew.offer(file, false)
        after = cursor ?? after
      })
      // The server ended the stream cleanly, probably for a restart.
      failures += 1
      await sleep(delayAfter(failures, settings.backoff), signal)
    } catch (error) {
      if (signal.aborted) return
      const isCursor =
        after !== null && error instanceof ClientError && [400, 410].includes(error.status ?? 0)
      if (isCursor) after = null
      else await troubled(settings, error, (failures += 1), signal)
    }
  }
}

/** Lists all files from time to time, to retry abandoned files and find those whose event was missed. */
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
      // The event listener has the same problem and reports it.
      failures += 1
    }
  }
}

export function listTrouble(error: unknown, attempts: number, againInMs: number | null): Trouble {
  const isToken =
    error instanceof ClientError &&
    (error.code === 'TOKEN_UNREADABLE' || error.status === 401 || error.status === 403)
  const code: TroubleCode = isToken ? 'TOKEN_REFUSED' : 'LIST_FAILED'
  return { code, message: textOf(error), uri: null, attempts, againInMs, cause: error }
}

async function troubled(
  { backoff, onTrouble }: Settings,
  error: unknown,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const asked = error instanceof ClientError ? error.retryAfterMs : 0
  const delayMs = delayAfter(failures, backoff, asked)
  onTrouble(listTrouble(error, failures, delayMs))
  await sleep(delayMs, signal)
}

function tellBad({ onTrouble }: Settings, bad: number): void {
  if (bad > 0)
    onTrouble({
      code: 'ENTRY_BAD',
      message: `the inbox listed ${bad} invalid ${bad === 1 ? 'file' : 'files'}`,
      uri: null,
      attempts: 1,
      againInMs: null,
      cause: null,
    })
}
