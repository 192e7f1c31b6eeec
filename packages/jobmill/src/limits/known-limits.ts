/** Caches the names and settings of limits. Read on demand, and kept for a while. */
import { invalidValue, type JobmillError } from '../job/errors.ts'
import { didYouMean } from '../job/options/known-keys.ts'
import type { LimitSettings } from '../job/limit/limit.ts'
import type { Platform } from '../platform/platform.ts'
import type { LimitRecord } from '../store/types/limit.ts'

export type KnownLimits = ReturnType<typeof knownLimits>

const KNOWN_FOR_MS = 10_000

export function knownLimits(read: () => Promise<readonly LimitRecord[]>, platform: Platform) {
  let known: ReadonlyMap<string, LimitSettings> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null

  function refresh(): Promise<void> {
    reading ??= readAll().finally(() => {
      reading = null
    })
    return reading
  }

  async function readAll(): Promise<void> {
    const records = await read()
    known = new Map(records.map(({ name, settings }) => [name, settings]))
    readAt = platform.monotonic()
  }

  const isFresh = (withinMs: number): boolean => platform.monotonic() - readAt < withinMs

  return {
    /** Undefined when unknown. A stale answer does no harm: it decides how to wait, never what is granted. */
    async typeOf(name: string) {
      // Callers work without it, and the statements that matter report database errors.
      if (!isFresh(KNOWN_FOR_MS) || !known.has(name)) await refresh().catch(() => {})
      return known.get(name)?.type
    },
    /**
     * The settings as text, at most this old, for a waiter that must notice a change. Undefined when the
     * limit was deleted. Without the database, the last known settings.
     */
    async settingsOf(name: string, withinMs: number) {
      if (!isFresh(withinMs)) await refresh().catch(() => {})
      const settings = known.get(name)
      return settings === undefined ? undefined : JSON.stringify(settings)
    },
    /** The error for an unknown name, with the nearest known one. */
    unknown: async (name: string) => {
      await refresh().catch(() => {})
      return unknownLimit(name, [...known.keys()])
    },
  }
}

function unknownLimit(name: string, known: readonly string[]): JobmillError {
  const those = known.length === 0 ? 'No limits exist yet' : `Use one of: ${known.slice(0, 10).join(', ')}`
  const fix = { code: 'limit.create', first: didYouMean(name, known, those) } as const
  return invalidValue('limit', name, 'no limit has this name', fix, 'LIMIT_UNKNOWN')
}
