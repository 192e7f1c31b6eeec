/** A time in a filter: absolute, or relative to now. */
export type When = { readonly at: number } | { readonly ago: string }

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const AGO = /^(?:\d{1,6}[smhdw]){1,5}$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i

const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

/** The last time whose year has four digits. */
export const LAST_AT = 253_402_300_799_999

export const WHEN_FIX =
  'Use a time (02:13), a date (2026-11-16), both (2026-11-16T09:30), or a duration ago (90s, 15m, 1h, 7d)'

/**
 * Null when it is not a time. Without a zone it is local time. Without a date it is the last time that the
 * clock showed it.
 */
export function readWhen(text: string, now = Date.now()): When | null {
  if (AGO.test(text)) return { ago: text }
  const clock = CLOCK.exec(text)
  if (clock !== null)
    return {
      at: lastTimeOf(
        clock.slice(1).map((part) => Number(part ?? 0)),
        now,
      ),
    }
  const [, year = '', month = '', day = '', time = '00:00', zone = ''] = DATE.exec(text) ?? []
  if (year === '') return null
  // Date would accept 31 February as a day in March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (date.getUTCMonth() !== Number(month) - 1) return null
  const at = Date.parse(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`)
  return at >= 0 && at <= LAST_AT ? { at } : null
}

export function printWhen(when: When): string {
  return 'ago' in when ? when.ago : new Date(when.at).toISOString().replace('.000Z', 'Z')
}

export function instantOf(when: When, now: number): number {
  if ('at' in when) return when.at
  let ms = 0
  for (const [, count = '', unit = ''] of when.ago.matchAll(/(\d+)([smhdw])/g))
    ms += Number(count) * (UNITS[unit] ?? 0)
  return Math.max(0, now - ms)
}

function lastTimeOf([hours = 0, minutes = 0, seconds = 0]: readonly number[], now: number): number {
  const date = new Date(now)
  date.setHours(hours, minutes, seconds, 0)
  if (date.getTime() > now) date.setDate(date.getDate() - 1)
  return date.getTime()
}
