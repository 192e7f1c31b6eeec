/** Drains a limit because an upstream refused calls: it grants nothing for as long as the upstream asked. */
import { retryAfterMs } from '../job/duration.ts'
import { invalidValue, isJobmillError, type JobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { budgetId } from '../job/limit/limit.ts'
import { checkLimitKey, type DrainLimitOptions } from '../job/limit/limit-handle.ts'
import { checkName } from '../job/names.ts'
import { pauses } from '../platform/pauses.ts'
import type { LimitRecord } from '../store/types/limit.ts'
import type { AskTools } from './ask.ts'
import type { KnownLimits } from './known-limits.ts'

export type DrainLimit = (name: string, options?: DrainLimitOptions) => Promise<LimitRecord>

const MOST_TIMES = 10
/** Bounds the map, because the number of keys is unlimited. */
const MOST_KNOWN = 10_000

type DrainTools = AskTools & { readonly emit: Emit }

export type Drains = ReturnType<typeof drains>

export function drains({ opened, platform, emit }: DrainTools, known: KnownLimits) {
  const times = new Map<string, number>()
  let last = 0
  let others = 0
  /**
   * A number that changes with each drain in this process, of a limit or one of its keys. A waiter must not
   * use an instant that was granted before a drain.
   */
  const timesOf = (name: string, key?: string): number => times.get(budgetId(name, key)) ?? others
  function count(name: string, key: string | undefined): void {
    last += 1
    // Current waiters treat this as a drain and send their requests again.
    if (times.size >= MOST_KNOWN) {
      times.clear()
      others = last
      last += 1
    }
    times.set(budgetId(name, key), last)
  }

  /**
   * Resends until the outcome is known, with the remaining time: a lost reply must not make the pause longer.
   */
  async function send(name: string, forMs: number, key: string | undefined): Promise<LimitRecord> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 5_000 })
    const sentAt = platform.monotonic()
    for (let sends = 1; ; sends += 1) {
      const goneMs = Math.floor(platform.monotonic() - sentAt)
      try {
        return await (await opened()).limits.drain(name, Math.max(0, forMs - goneMs), key)
      } catch (error) {
        if (!isJobmillError(error)) throw error
        if (error.code === 'LIMIT_UNKNOWN') throw await known.unknown(name)
        if (error.code !== 'OUTCOME_UNKNOWN' || sends === MOST_TIMES) throw error
      }
      await pause.wait()
    }
  }

  const drain: DrainLimit = async (name, options = {}) => {
    checkName(name, 'limit')
    checkObjectKeys(options, 'options', ['retryAfter', 'key'])
    const { retryAfter, key } = options
    if (key !== undefined) checkLimitKey(key, 'key')
    const forMs = retryAfter === undefined ? 0 : retryAfterMs(retryAfter, 'options.retryAfter')
    count(name, key)
    const record = await send(name, forMs, key)
    // Counts again: grants made while the statement was in flight came before the drain.
    count(name, key)
    if (retryAfter === undefined && record.settings.type === 'concurrency') throw withoutTime(name)
    emit('limit-drained', { limit: name, key: key ?? null, forMs: record.drainedMs })
    return record
  }
  return { drain, timesOf }
}

/** A concurrency limit has no unused tokens to drop. */
function withoutTime(name: string): JobmillError {
  const what = `is required to drain the concurrency limit "${name}"`
  const fix = "Pass how long the limit should grant no permits, such as { retryAfter: '30s' }"
  return invalidValue('options.retryAfter', undefined, what, fix)
}
