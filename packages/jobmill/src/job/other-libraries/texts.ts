/**
 * Options of other libraries as code for Jobmill. Shows numbers, durations and queue names of the caller, and
 * no other values, which may be secrets.
 */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { durationMs, durationText } from '../duration.ts'
import { quote } from '../errors.ts'

export type Given = Readonly<Record<string, unknown>>

/**
 * For `limiter: { max, duration }`, and for the same object as the `limit` of a queue. `field` is the path of
 * the queue.
 */
export function limitText(limiter: unknown, field: string): string {
  if (field.startsWith(IN_QUEUES)) return declaredLimit(limiter, field.slice(IN_QUEUES.length))
  return `Create a limit, then pass its name: mill.limits.create('smtp', ${rateText(asGiven(limiter))}), limit: 'smtp'`
}

const IN_QUEUES = 'queues.'

export function declaredLimit(limiter: unknown, queue: string): string {
  const rate = rateText(asGiven(limiter))
  return `Declare a limit and name it: limits: { smtp: ${rate} }, ${queueText(queue, "limit: 'smtp'")}`
}

/** The queue of a kind, or the only queue in the options of a mill. */
export function queueOf({ queue, queues }: Given): string {
  if (typeof queue === 'string') return queue
  const [only, ...others] = Object.keys(asGiven(queues))
  return only === undefined || others.length > 0 ? DEFAULTS.queue : only
}

export function queueText(queue: string, setting: string): string {
  const isPlain = /^[A-Za-z_$][\w$]{0,39}$/.test(queue)
  return `queues: { ${isPlain ? queue : quote(queue)}: { ${setting} } }`
}

/**
 * `{ max: 50, duration: 60_000 }` as an option of Jobmill. A period that is too short for Jobmill becomes a
 * longer one with the same rate.
 */
export function rateText(options: Given): string {
  const { max, limit = max, rate = limit, duration, interval = duration, window = interval } = options
  const { per = window } = options
  const ms = lengthMs(per) ?? 60_000
  const times = Math.max(1, Math.ceil(BOUNDS.shortestPerMs / ms))
  // In BullMQ, that many can start at once.
  const burst = positive(max) === null ? '' : `, burst: ${positive(max)}`
  return `{ rate: ${(positive(rate) ?? 50) * times}, per: '${durationText(ms * times)}'${burst} }`
}

/** `{ type: 'fixed', delay: 5_000 }` as an option of Jobmill. */
export function backoffText({ type, delay }: Given, of: 'kind' | 'queue'): string {
  const length = lengthText(delay) ?? '5s'
  if (type !== 'fixed') return `{ base: '${length}' }, which doubles after each failure`
  const fixed = `{ fixed: '${length}' }`
  return of === 'kind' ? fixed : `backoff: ${fixed} in defineJob`
}

/**
 * True removes jobs at once, a number is how many to keep, and an object has a count and an age in seconds.
 */
export function retainText(options: Given, state: 'done' | 'dead'): string {
  const kept = options[state === 'done' ? 'removeOnComplete' : 'removeOnFail']
  if (kept === true || kept === 0) return `retain: { ${state}: 0 }`
  if (kept === false) return `retain: { ${state}: 'forever' }`
  const { age, count = kept } = asGiven(kept)
  const most = positive(count)
  const length = lengthText(typeof age === 'number' ? age * 1_000 : age)
  if (most === null) return `retain: { ${state}: '${length ?? '7d'}' }`
  return `retain: { ${state}: { ${length === null ? '' : `for: '${length}', `}most: ${most} } }`
}

/** `{ id, ttl: 5_000 }` or `{ id, replace: true }` as options of Jobmill. */
export function dedupeText({ ttl, replace }: Given): string {
  const length = lengthText(ttl)
  if (replace === true) return "{ key, onConflict: 'replace' }"
  return length === null ? '{ key }' : `{ key, window: '${length}' }`
}

export function whenText(every: unknown): string {
  const length = lengthText(every)
  return length === null ? "when: '0 9 * * MON'" : `when: 'every ${length}'`
}

export function lengthText(length: unknown): string | null {
  const ms = lengthMs(length)
  return ms === null ? null : durationText(ms)
}

/** Milliseconds, or a duration as text. */
function lengthMs(length: unknown): number | null {
  if (typeof length !== 'string') return positive(length)
  try {
    return positive(durationMs(length, ''))
  } catch {
    return null
  }
}

export function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

export function asGiven(value: unknown): Given {
  return typeof value === 'object' && value !== null ? (value as Given) : {}
}
