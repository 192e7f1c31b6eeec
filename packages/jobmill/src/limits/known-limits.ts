/** What this process knows of limits: whether one is a rate or a concurrency, and which names there are. Read when somebody needs it, and kept for a while. */
import { JobmillError, shown } from '../job/errors.ts'
import { nearest } from '../job/known-keys.ts'
import type { LimitSettings } from '../job/limit.ts'
import type { Platform } from '../platform/platform.ts'
import type { LimitRecord } from '../store/limit.ts'

export interface KnownLimits {
  /** Undefined when it is not known. What it was some seconds ago does no harm: it decides how to wait, never what is granted. */
  readonly typeOf: (name: string) => Promise<LimitSettings['type'] | undefined>
  /** The error for a name that no limit has, with the nearest one. */
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
      // Whoever asks can go on without: trouble with the database is told by the statements that matter.
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
  const those = known.length === 0 ? 'There is none yet' : `Known are ${known.slice(0, 10).join(', ')}`
  const make = 'name it in the option limits or create it with mill.limits.create'
  return new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', {
    field: 'limit',
    value: shown(name),
    fix: near === undefined ? `${those}; ${make}` : `Did you mean "${near}"? If not, ${make}`,
  })
}
