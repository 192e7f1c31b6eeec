/** Hears of new files: by a list that waits, or by events. Whatever happens, everything that is not acknowledged is listed again, now and then. */
import { performance } from 'node:perf_hooks'
import { ClientError, textOf } from './client-error.ts'
import type { Crew } from './crew.ts'
import { listen } from './events.ts'
import { type Listed, listPage, readLimits } from './listing.ts'
import type { Settings } from './options.ts'
import { delayAfter, sleep } from './time.ts'
import type { Trouble, TroubleCode } from './trouble.ts'

export interface WatchTools {
  readonly settings: Settings
  readonly crew: Crew
  readonly setLimit: (maxFileBytes: number) => void
  readonly signal: AbortSignal
}

/** Every file that is not acknowledged, from the beginning, with the limits as they are now. */
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

/** Lists from the beginning, then waits for what comes after. */
export async function poll(tools: WatchTools): Promise<void> {
  const { settings, crew, signal } = tools
  const { line, waitMs, relistMs } = settings
  let after: string | null = null
  let relistAt = 0
  let failures = 0
  let cursorsLost = 0
  /** While the list from the beginning is being read: what it had. */
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
      // Somebody in between does not wait: we do.
      const isEarly = page.files.length === 0 && performance.now() - askedAt < asked / 2
      if (isEarly) await sleep(Math.min(PAUSE_MS, asked), signal)
    } catch (error) {
      if (signal.aborted) return
      // A cursor that is not taken any more leads back to the beginning, where nothing is missed.
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

/** Listens; after a break from where it was. */
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
      // It was ended in good order: the process there stops, and another one will be there in a moment.
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

/** For whoever listens: what was given up, or was missed, is tried again. */
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
      // Whoever listens has the same trouble, and says so.
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
      message: `the inbox has listed ${bad} files that cannot be used`,
      uri: null,
      attempts: 1,
      againInMs: null,
      cause: null,
    })
}
