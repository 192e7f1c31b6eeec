/** Caches the names and types of limits. Read on demand, and kept for a while. */
import { JobmillError, quote } from '../job/errors.ts'
import { nearest } from '../job/options/known-keys.ts'
import type { LimitSettings } from '../job/limit/limit.ts'
import type { Platform } from '../platform/platform.ts'
import type { LimitRecord } from '../store/types/limit.ts'

export interface KnownLimits {
  /** Undefined when unknown. A stale answer does no harm: it decides how to wait, never what is granted. */
  readonly typeOf: (name: string) => Promise<LimitSettings['type'] | undefined>
  /** The error for an unknown name, with the nearest known one. */
  readonly unknown: (name: string) => Promise<JobmillError>
}

const KNOWN_FOR_MS = 10_000

export function knownLimits(read: () => Promise<readonly LimitRecord[]>, platform: Platform): KnownLimits {
  let known: ReadonlyMap<string, LimitSettings['type']> = new Map()
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
    known = new Map(records.map(({ name, settings }) => [name, settings.type]))
    readAt = platform.monotonic()
  }

  return {
    async typeOf(name) {
      const isFresh = platform.monotonic() - readAt < KNOWN_FOR_MS && known.has(name)
      // Callers work without it, and the statements that matter report database errors.
      if (!isFresh) await refresh().catch(() => {})
      return known.get(name)
    },
    async unknown(name) {
      await refresh().catch(() => {})
      return unknownLimit(name, [...known.keys()])
    },
  }
}

function unknownLimit(name: string, known: readonly string[]): JobmillError {
  const near = nearest(name, known)
  const those = known.length === 0 ? 'No limits exist yet' : `Use one of: ${known.slice(0, 10).join(', ')}`
  return new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
    field: 'limit',
    value: quote(name),
    fix: { code: 'limit.create', first: near === undefined ? those : `Did you mean "${near}"?` },
  })
}
