/**
 * Converts between instants and wall times of a time zone. A wall time is stored as the instant at which a
 * UTC clock shows the same. At a clock change, some wall times never occur (the gap) and some occur twice.
 */
import { invalidValue } from '../errors.ts'
import { nearest } from '../options/known-keys.ts'

/**
 * How often a wall time occurs. `changeAt` is the instant of the clock change, and `until` the wall time at
 * which its gap or its repetition ends.
 */
export type LocalTimeMatch =
  | { readonly type: 'once'; readonly at: number }
  | {
      readonly type: 'twice'
      readonly first: number
      readonly second: number
      readonly changeAt: number
      readonly until: number
    }
  | { readonly type: 'never'; readonly changeAt: number; readonly until: number }

const SECOND = 1_000
const DAY = 86_400_000

/** Longer than any zone name. Finding the nearest name takes time that grows with the text. */
const LONGEST_NAME = 64

export function checkZone(zone: unknown, field: string): string {
  const isShort = typeof zone === 'string' && zone.length <= LONGEST_NAME
  if (isShort && isZone(zone)) return zone
  const near = isShort ? nearestZone(zone) : undefined
  const fix = near === undefined ? 'Pass a name such as "Europe/Paris", or "UTC"' : `Did you mean "${near}"?`
  throw invalidValue(field, zone, 'must be a time zone', fix, 'SCHEDULE_INVALID')
}

function isZone(zone: string): boolean {
  try {
    formatterOf(zone)
    return true
  } catch {
    return false
  }
}

/** Matches by spelling, or by city. */
function nearestZone(zone: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone')
  const near = nearest(zone, zones)
  if (near !== undefined) return near
  const cities = new Map(zones.map((name) => [name.slice(name.lastIndexOf('/') + 1), name]))
  return cities.get(nearest(zone.replaceAll(' ', '_'), [...cities.keys()]) ?? '')
}

// There are about 400 zones, and creating a formatter takes longer than using it.
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  formatters.set(zone, made)
  return made
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** Throws for a zone that this process does not know. */
export function zoneClock(zone: string) {
  const formatter = formatterOf(zone)
  // Caches the range around the last wall time, because most calls continue from there.
  let steady = { from: 0, until: 0, offset: 0 }

  /** The UTC offset at an instant, in milliseconds: wall time minus instant. */
  function offsetAt(at: number): number {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(formatter.format(at)) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND
    return sign === '-' ? -ms : ms
  }

  /** The only clock change between the two instants. */
  function changeBetween(before: number, after: number): number {
    const offset = offsetAt(before)
    let [low, high] = [before, after]
    while (high - low > SECOND) {
      const middle = low + Math.floor((high - low) / (2 * SECOND)) * SECOND
      if (offsetAt(middle) === offset) low = middle
      else high = middle
    }
    return high
  }

  function meet(wall: number): LocalTimeMatch {
    const likely = wall - steady.offset
    if (likely > steady.from && likely < steady.until) return { type: 'once', at: likely }
    // No zone is a day away from UTC, so the instants with this wall time are between these two.
    const [from, until] = [wall - DAY, wall + DAY]
    const [before, after] = [offsetAt(from), offsetAt(until)]
    if (before === after) {
      // Leaves half a day at both ends: near a change, the same wall time may occur again on its other side.
      steady = { from: from + DAY / 2, until: until - DAY / 2, offset: before }
      return { type: 'once', at: wall - before }
    }
    const isEarly = offsetAt(wall - before) === before
    const isLate = offsetAt(wall - after) === after
    if (isEarly !== isLate) return { type: 'once', at: wall - (isEarly ? before : after) }
    const changeAt = changeBetween(from, until)
    const met = { changeAt, until: changeAt + Math.max(before, after) }
    return isEarly
      ? { type: 'twice', first: wall - before, second: wall - after, ...met }
      : { type: 'never', ...met }
  }

  return { offsetAt, meet }
}
