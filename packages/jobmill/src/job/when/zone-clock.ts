/**
 * Time zones: what clocks on the wall show. A wall time is kept as the instant at which a clock in UTC shows the same. At a change of the clock some wall
 * times are shown never (the gap) and some twice.
 */
import { JobmillError, shown } from '../errors.ts'
import { nearest } from '../known-keys.ts'

/** How a wall time is met. `changeAt` is the instant of the change, and `until` the wall time at which its gap or its repetition is over. */
export type Met =
  | { readonly type: 'once'; readonly at: number }
  | {
      readonly type: 'twice'
      readonly first: number
      readonly second: number
      readonly changeAt: number
      readonly until: number
    }
  | { readonly type: 'never'; readonly changeAt: number; readonly until: number }

export interface ZoneClock {
  /** What is added to an instant to get its wall time. */
  readonly offsetAt: (at: number) => number
  readonly meet: (wall: number) => Met
}

const SECOND = 1_000
const DAY = 86_400_000

/** Longer than any name. Looking for the nearest one takes a time that grows with the text. */
const LONGEST_NAME = 64

export function checkZone(zone: unknown, field: string): string {
  const isShort = typeof zone === 'string' && zone.length <= LONGEST_NAME
  if (isShort && isZone(zone)) return zone
  const near = isShort ? nearestZone(zone) : undefined
  throw new JobmillError('SCHEDULE_INVALID', 'is not a time zone', {
    field,
    value: shown(zone),
    fix: near === undefined ? 'Give a name such as "Europe/Paris", or "UTC"' : `Did you mean "${near}"?`,
  })
}

function isZone(zone: string): boolean {
  try {
    formatterOf(zone)
    return true
  } catch {
    return false
  }
}

/** By its spelling, or by its city. */
function nearestZone(zone: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone')
  const near = nearest(zone, zones)
  if (near !== undefined) return near
  const cities = new Map(zones.map((name) => [name.slice(name.lastIndexOf('/') + 1), name]))
  return cities.get(nearest(zone.replaceAll(' ', '_'), [...cities.keys()]) ?? '')
}

// There are some 400 zones, and making a formatter takes longer than all that is done with it.
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
export function zoneClock(zone: string): ZoneClock {
  const formatter = formatterOf(zone)
  // Around the wall time that was asked for last: most who ask go on from there.
  let steady = { from: 0, until: 0, offset: 0 }

  function offsetAt(at: number): number {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(formatter.format(at)) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND
    return sign === '-' ? -ms : ms
  }

  /** The only change between the two. */
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

  function meet(wall: number): Met {
    const likely = wall - steady.offset
    if (likely > steady.from && likely < steady.until) return { type: 'once', at: likely }
    // No zone is a day away from UTC, so whatever shows this wall time lies between these two.
    const [from, until] = [wall - DAY, wall + DAY]
    const [before, after] = [offsetAt(from), offsetAt(until)]
    if (before === after) {
      // Half a day is left at both ends: near a change, the same wall time may be met once more on its other side.
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
