// The ticks of any expression in any zone are those that a search over all minutes finds.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { instantsOf } from '../../src/job/when/instants.ts'
import { parseWhen } from '../../src/job/when/parse-when.ts'
import { changesIn, type Entry, walk, type Wall } from './when-walker.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/**
 * Clock changes of an hour, half an hour and two hours, at midnight, on the evening before and at three
 * quarters past; a skipped day; and no change.
 */
const ZONES = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/Havana',
  'America/Santiago',
  'America/Nuuk',
  'Antarctica/Troll',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Africa/Casablanca',
  'Atlantic/Azores',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'UTC',
]

interface Choice {
  readonly text: string
  readonly fits: (value: number) => boolean
  readonly hasStar: boolean
}

function choice(least: number, most: number): fc.Arbitrary<Choice> {
  const value = fc.integer({ min: least, max: most })
  const one = value.map((n) => ({ text: `${n}`, values: [n], hasStar: false }))
  const range = fc.tuple(value, value, fc.integer({ min: 1, max: 3 })).map(([a, b, step]) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)]
    const values = numbers(from, to, step)
    return { text: step === 1 ? `${from}-${to}` : `${from}-${to}/${step}`, values, hasStar: false }
  })
  const star = fc.integer({ min: 1, max: Math.min(30, most - least) }).map((step) => ({
    text: step === 1 ? '*' : `*/${step}`,
    values: numbers(least, most, step),
    hasStar: true,
  }))
  const part = fc.oneof(one, range, star)
  return fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => ({
    text: parts.map(({ text }) => text).join(','),
    fits: (n) => parts.some(({ values }) => values.includes(n)),
    hasStar: parts.some(({ hasStar }) => hasStar),
  }))
}

function numbers(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step)
}

const any: Choice = { text: '*', fits: () => true, hasStar: true }
const mostlyAny = (least: number, most: number) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(any) }, { weight: 1, arbitrary: choice(least, most) })
const days = fc.oneof(
  { weight: 5, arbitrary: mostlyAny(1, 31).map((one) => ({ ...one, last: false })) },
  { weight: 1, arbitrary: fc.constant({ text: 'L', fits: () => false, hasStar: false, last: true }) },
)

/** Times at which clocks change. */
const atNight = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 }))
  .map(([from, more]) => ({
    text: `${from}-${from + more}`,
    fits: (n: number) => n >= from && n <= from + more,
    hasStar: false,
  }))

const expression = fc
  .record({
    minute: choice(0, 59),
    hour: fc.oneof(mostlyAny(0, 23), atNight),
    day: days,
    month: mostlyAny(1, 12),
    weekday: mostlyAny(0, 6),
  })
  .map(({ minute, hour, day, month, weekday }) => {
    const isDay = (wall: Wall): boolean => day.fits(wall.day) || (day.last && wall.isLastDay)
    const isFullDay = numbers(0, 23, 1).every((n) => hour.fits(n))
    const entry: Entry = {
      fits(wall) {
        if (!minute.fits(wall.minute) || !hour.fits(wall.hour) || !month.fits(wall.month)) return false
        return day.hasStar || weekday.hasStar
          ? isDay(wall) && weekday.fits(wall.weekday)
          : isDay(wall) || weekday.fits(wall.weekday)
      },
      hours: isFullDay ? 'every' : hour.hasStar ? 'steps' : 'named',
    }
    return { when: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '), entry }
  })
  // An expression without ticks, such as 31 February, is refused when it is parsed.
  .filter(({ when }) => isWhen(when))

function isWhen(when: string): boolean {
  try {
    return parseWhen(when).type === 'calendar'
  } catch {
    return false
  }
}

/** A zone, and an instant some hours before its clock change, or anywhere in a year without one. */
const place = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    year: fc.integer({ min: 2000, max: 2036 }),
    nth: fc.nat({ max: 3 }),
    minutes: fc.integer({ min: -600, max: 1_800 }),
  })
  .map(({ zone, year, nth, minutes }) => {
    const changes = changesIn(zone, year)
    const change = changes[nth % Math.max(1, changes.length)] ?? Date.UTC(year, 3 * nth, 27)
    return { zone, from: change - minutes * MINUTE }
  })

function planned(when: string, zone: string, from: number, until: number): number[] {
  const { after } = instantsOf({ when, zone, startAt: null, endAt: null }, 0)
  const instants: number[] = []
  for (let at = after(from - 1); at !== null && at < until; at = after(at)) instants.push(at)
  return instants
}

const iso = (instants: readonly number[]): string[] => instants.map((at) => new Date(at).toISOString())

/** Instants within the two days, in milliseconds. */
const points = fc.array(fc.integer({ min: 0, max: 2 * DAY - 1 }), { minLength: 20, maxLength: 20 })

describe('ticks', () => {
  test('equal those that a search over every minute finds, from any instant', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(expression, place, points, ({ when, entry }, { zone, from }, offsets) => {
        const until = from + 2 * DAY
        const walked = walk(entry, zone, from, until)
        expect(iso(planned(when, zone, from, until))).toEqual(iso(walked))
        const { after } = instantsOf({ when, zone, startAt: null, endAt: null }, 0)
        for (const offset of offsets) {
          const expected = walked.find((at) => at > from + offset) ?? null
          const next = after(from + offset)
          expect(next !== null && next < until ? next : null).toBe(expected)
        }
      }),
      { numRuns: Number(process.env['JOBMILL_RUNS'] ?? inFull(200, 10)) },
    )
  })
})
