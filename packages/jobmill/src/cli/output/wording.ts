/** Formats times and numbers for people. */
export { countText, number } from '../../job/text/count-text.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `12 ms`, `1.5 s`, `3 m`, `2 h`, `4 d`: one unit is precise enough. */
export function lasting(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`
  // A decimal only where it matters.
  if (ms < 10 * SECOND) return `${Number((ms / SECOND).toFixed(1))} s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} d`
}

/** `3 m ago`, `in 2 h`. */
export function fromNow(at: number, now: number): string {
  const ms = Math.abs(now - at)
  if (ms < SECOND) return 'now'
  const whole = lasting(Math.floor(ms / SECOND) * SECOND)
  return at > now ? `in ${whole}` : `${whole} ago`
}

/** Formats a duration as an option value: `10s`, `1h30m`, `forever`. */
export function optionText(ms: number | null): string {
  if (ms === null) return 'forever'
  let rest = ms
  const parts = UNITS.flatMap(([unit, size]) => {
    const amount = Math.floor(rest / size)
    rest -= amount * size
    return amount === 0 ? [] : [`${amount}${unit}`]
  })
  return parts.length === 0 ? '0s' : parts.join('')
}

/** The remaining time, rounded up to seconds: `1m30s`. */
export function remainingText(ms: number): string {
  return optionText(Math.ceil(ms / SECOND) * SECOND)
}

const UNITS = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
  ['ms', 1],
] as const

/** Local time with its offset, so that it can be passed back as an option: `2027-01-31T10:00:00+01:00`. */
export function localTime(at: number): string {
  const date = new Date(at)
  const minutes = -date.getTimezoneOffset()
  const local = new Date(at + minutes * MINUTE).toISOString().slice(0, 19)
  const away = Math.abs(minutes)
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`
}

function two(n: number): string {
  return String(n).padStart(2, '0')
}

/** `2027-01-31T10:00:00+01:00 (3 m ago)` */
export function moment(at: number, now: number): string {
  return `${localTime(at)} (${fromNow(at, now)})`
}
