/** Formats numbers and times. Every number with a unit shows the unit. */

const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** 12,345 */
export const number = (n: number): string => whole.format(n)

/** 12.3K, where space is limited; put the exact number in a tooltip. */
export const compact = (n: number): string => (Math.abs(n) < 10_000 ? whole.format(n) : short.format(n))

/** 1 job, 2 jobs */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`
}

/** 0.2/s, 12/s, 3/min: the unit that is easiest to read. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return '0/s'
  if (perSecond >= 10) return `${compact(Math.round(perSecond))}/s`
  if (perSecond >= 0.1) return `${perSecond.toFixed(1)}/s`
  return perSecond * 60 >= 0.1 ? `${(perSecond * 60).toFixed(1)}/min` : `${(perSecond * 3_600).toFixed(1)}/h`
}

export function percent(share: number): string {
  const value = share * 100
  // A share below 100% must never be rounded up to 100%.
  if (value < 100 && value > 99.9) return '>99.9%'
  return `${value.toFixed(value === 100 || value === 0 ? 0 : 1)}%`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** 340 ms, 1.2 s, 4 min 5 s, 3 h 20 min, 2 d 4 h */
export function span(ms: number): string {
  const size = Math.abs(ms)
  const sign = ms < 0 ? '−' : ''
  if (size < 1) return size === 0 ? '0 ms' : `${sign}<1 ms`
  if (size < 1_000) return `${sign}${Math.round(size)} ms`
  if (size < 10_000) return `${sign}${(size / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  for (const [at, [unit, length]] of UNITS.entries()) {
    if (size < length) continue
    const many = Math.floor(size / length)
    const next = UNITS[at + 1]
    const rest = next === undefined || many >= 100 ? 0 : Math.floor((size % length) / next[1])
    return `${sign}${many} ${unit}${next === undefined || rest === 0 ? '' : ` ${rest} ${next[0]}`}`
  }
  return `${sign}${Math.round(size)} ms`
}

export function bytes(n: number): string {
  const steps = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = n
  let step = 0
  while (value >= 1_024 && step < steps.length - 1) {
    value /= 1_024
    step += 1
  }
  return `${step === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${steps[step]}`
}

const full = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
})

/** 16 Nov 2026, 02:11:58 (2026-11-16T02:11:58.123Z): local time to read, ISO time to paste. */
export function instant(at: number): string {
  return `${full.format(at)} (${new Date(at).toISOString()})`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** 02:11:58, with the date when it is not today. */
export function moment(at: number): string {
  return new Date(at).toDateString() === new Date().toDateString() ? clock.format(at) : day.format(at)
}

/** 5 s ago, in 3 min, now */
export function ago(at: number, now: number): string {
  const ms = now - at
  if (Math.abs(ms) < 1_000) return 'now'
  const text = span(Math.floor(Math.abs(ms) / 1_000) * 1_000)
  return ms > 0 ? `${text} ago` : `in ${text}`
}

/** 5 s ago, 12 min ago, 3 h ago: for a column of a table, whose width must not change with every second. */
export function roughlyAgo(at: number, now: number): string {
  return ago(at, now).replace(/^(in )?(\d+ (?:min|h|d)) \d+ \w+/, '$1$2')
}

/** A text of the server as a sentence. CSS would change only what is drawn, and only in blocks. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Ids differ at their end. */
export const shortId = (id: string): string => `…${id.slice(-8)}`
