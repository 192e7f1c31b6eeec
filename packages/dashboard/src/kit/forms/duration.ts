/** Durations as users type them: `90s`, `10m`, `1h30m`, `7d`. The server accepts the same format. */

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const TEN_YEARS_MS = 3_650 * 86_400_000

export const FOREVER = 'forever'

/** Null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const compact = text.replaceAll(' ', '')
  if (compact === '0') return 0
  if (!WHOLE.test(compact)) return null
  let total = 0
  for (const [, amount, unit] of compact.matchAll(PART)) total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  return Math.round(total)
}

/** The inverse: 5,400,000 is `1h30m`, null is `forever`. */
export function durationText(ms: number | null): string {
  if (ms === null) return FOREVER
  if (ms === 0) return '0s'
  let rest = Math.round(ms)
  let text = ''
  for (const [unit, length] of Object.entries(UNIT_MS)) {
    const many = Math.floor(rest / length)
    if (many > 0) text += `${many}${unit}`
    rest -= many * length
  }
  return text
}

interface Bounds {
  readonly orForever?: boolean
  readonly leastMs?: number
  readonly mostMs?: number
}

/** The error message for a duration field; undefined when the duration is valid. */
export function durationError(
  text: string,
  { orForever = false, leastMs = 0, mostMs = TEN_YEARS_MS }: Bounds = {},
): string | undefined {
  if (orForever && text.trim() === FOREVER) return undefined
  const ms = parseDuration(text)
  if (ms === null)
    return `Enter a duration such as 90s, 10m, 1h30m or 7d${orForever ? `, or ${FOREVER}` : ''}.`
  if (ms < leastMs) return `The minimum is ${durationText(leastMs)}.`
  return ms > mostMs ? `The maximum is ${durationText(mostMs)}.` : undefined
}
