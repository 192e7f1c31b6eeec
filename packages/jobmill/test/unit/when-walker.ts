/**
 * The rule for clock changes by brute force: checks the local time of every minute. Shares no code with the
 * implementation.
 */

export interface Wall {
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
  readonly isLastDay: boolean
}

export interface Entry {
  /** Whether the fields match a local time. */
  readonly fits: (wall: Wall) => boolean
  readonly hours: 'every' | 'steps' | 'named'
}

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** The local time of `zone`, as the instant at which UTC shows the same. */
function localTimeIn(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (at) => {
    const [month = 1, day = 1, year = 0, hour = 0, minute = 0] = format.format(at).split(/\D+/).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute)
  }
}

function wallOf(local: number): Wall {
  const date = new Date(local)
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    isLastDay: new Date(local + DAY).getUTCDate() === 1,
  }
}

/** The ticks of an entry in `[from, until)`. */
export function walk(entry: Entry, zone: string, from: number, until: number): number[] {
  const localTime = localTimeIn(zone)
  const instants: number[] = []
  const seen = new Set<number>()
  // Start a day earlier, to know which local times have already occurred.
  let before = localTime(from - DAY - MINUTE)
  for (let at = from - DAY; at < until; at += MINUTE) {
    const now = localTime(at)
    let isDue = entry.fits(wallOf(now)) && (entry.hours === 'every' || !seen.has(now))
    for (let skipped = before + MINUTE; skipped < now; skipped += MINUTE)
      if (entry.hours !== 'every' && entry.fits(wallOf(skipped))) isDue = true
    seen.add(now)
    before = now
    if (isDue && at >= from) instants.push(at)
  }
  return instants
}

/** The first instants after the clock changes of one year. */
export function changesIn(zone: string, year: number): number[] {
  const localTime = localTimeIn(zone)
  const offset = (at: number): number => localTime(at) - at
  const changes: number[] = []
  for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += DAY) {
    if (offset(day) === offset(day + DAY)) continue
    let at = day
    while (offset(at) === offset(day)) at += MINUTE
    changes.push(at)
  }
  return changes
}
