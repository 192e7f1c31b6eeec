// Ticks: days and months, clock changes in both directions, intervals, start and end, and their cost.
import { describe, expect, test } from 'vitest'
import { instantsOf, nextRuns, type Timing } from '../../src/job/when/instants.ts'

const at = (iso: string): number => Date.parse(iso)

function timing(when: string, zone = 'UTC', bounds: { start?: string; end?: string } = {}): Timing {
  const startAt = bounds.start === undefined ? null : at(bounds.start)
  return { when, zone, startAt, endAt: bounds.end === undefined ? null : at(bounds.end) }
}

function runs(of: Timing, from: string, count: number, created = '2020-01-01T00:00:00Z'): string[] {
  return nextRuns(of, { from: at(from), count, createdAt: at(created) }).map((run) =>
    new Date(run).toISOString().replace('.000Z', 'Z'),
  )
}

/** Local times with their UTC offset: `02:30+02:00`. */
function local(of: Timing, from: string, count: number): string[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: of.zone,
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  })
  return nextRuns(of, { from: at(from), count, createdAt: 0 }).map((run) => {
    const parts = Object.fromEntries(format.formatToParts(run).map(({ type, value }) => [type, value]))
    const { day, hour, minute, timeZoneName } = parts
    return `${day} ${hour}:${minute} ${timeZoneName?.replace('GMT', '')}`
  })
}

describe('days', () => {
  test.each([
    ['0 9 * * MON-FRI', '2026-10-02T12:00:00Z', ['2026-10-05T09:00:00Z', '2026-10-06T09:00:00Z']],
    ['0 0 L * *', '2027-01-15T00:00:00Z', ['2027-01-31T00:00:00Z', '2027-02-28T00:00:00Z']],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', ['2104-02-29T00:00:00Z']],
    ['0 0 31 * *', '2026-01-31T00:00:00Z', ['2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z']],
    ['0 0 13 * FRI', '2026-02-11T00:00:00Z', ['2026-02-13T00:00:00Z', '2026-02-20T00:00:00Z']],
    ['0 0 1-7/6 * FRI', '2026-02-25T00:00:00Z', ['2026-02-27T00:00:00Z', '2026-03-01T00:00:00Z']],
    ['0 0 */2 * MON', '2026-02-01T00:00:00Z', ['2026-02-09T00:00:00Z', '2026-02-23T00:00:00Z']],
    ['0 0 L * 0-6', '2026-02-01T00:00:00Z', ['2026-02-02T00:00:00Z', '2026-02-03T00:00:00Z']],
    ['*/20 * * * * *', '2026-02-01T00:00:15Z', ['2026-02-01T00:00:20Z', '2026-02-01T00:00:40Z']],
    ['@yearly', '2026-02-01T00:00:00Z', ['2027-01-01T00:00:00Z']],
  ])('%s after %s', (when, from, expected) => {
    expect(runs(timing(when), from, expected.length)).toEqual(expected)
  })

  test('an instant is not after itself, and fractions of a second before it count', () => {
    expect(runs(timing('0 0 * * *'), '2026-02-01T00:00:00.000Z', 1)).toEqual(['2026-02-02T00:00:00Z'])
    expect(runs(timing('0 0 * * *'), '2026-01-31T23:59:59.999Z', 1)).toEqual(['2026-02-01T00:00:00Z'])
    expect(runs(timing('0 0 * * *'), '2026-02-01T00:00:00.001Z', 1)).toEqual(['2026-02-02T00:00:00Z'])
  })

  test('follow the time zone', () => {
    expect(runs(timing('0 9 * * *', 'Asia/Kolkata'), '2026-02-01T00:00:00Z', 1)).toEqual([
      '2026-02-01T03:30:00Z',
    ])
    expect(runs(timing('0 0 L * *', 'Pacific/Kiritimati'), '2026-02-10T00:00:00Z', 1)).toEqual([
      '2026-02-27T10:00:00Z',
    ])
  })
})

/** Expression, zone, start, and the expected local times. */
const CHANGES: readonly (readonly [string, string, string, readonly string[]])[] = [
  // Paris, 29 March 2026: 02:00 to 03:00 does not exist.
  ['30 2 * * *', 'Europe/Paris', '2026-03-28T12:00:00Z', ['29 03:00 +02:00', '30 02:30 +02:00']],
  ['0 2,3 * * *', 'Europe/Paris', '2026-03-28T12:00:00Z', ['29 03:00 +02:00', '30 02:00 +02:00']],
  [
    '*/30 1-3 * * *',
    'Europe/Paris',
    '2026-03-28T23:00:00Z',
    ['29 01:00 +01:00', '29 01:30 +01:00', '29 03:00 +02:00', '29 03:30 +02:00', '30 01:00 +02:00'],
  ],
  ['*/10 2 * * *', 'Europe/Paris', '2026-03-28T12:00:00Z', ['29 03:00 +02:00', '30 02:00 +02:00']],
  [
    '30 * * * *',
    'Europe/Paris',
    '2026-03-29T00:00:00Z',
    ['29 01:30 +01:00', '29 03:30 +02:00', '29 04:30 +02:00'],
  ],
  [
    '0 */2 * * *',
    'Europe/Paris',
    '2026-03-28T22:30:00Z',
    ['29 00:00 +01:00', '29 03:00 +02:00', '29 04:00 +02:00'],
  ],
  // Paris, 25 October 2026: 02:00 to 03:00 occurs twice.
  ['30 2 * * *', 'Europe/Paris', '2026-10-24T12:00:00Z', ['25 02:30 +02:00', '26 02:30 +01:00']],
  [
    '*/30 1-3 * * *',
    'Europe/Paris',
    '2026-10-24T23:00:00Z',
    ['25 01:30 +02:00', '25 02:00 +02:00', '25 02:30 +02:00', '25 03:00 +01:00', '25 03:30 +01:00'],
  ],
  [
    '30 * * * *',
    'Europe/Paris',
    '2026-10-24T23:45:00Z',
    ['25 02:30 +02:00', '25 02:30 +01:00', '25 03:30 +01:00'],
  ],
  ['15 * * * *', 'Europe/Paris', '2026-10-25T00:30:00Z', ['25 02:15 +01:00', '25 03:15 +01:00']],
  [
    '0 */2 * * *',
    'Europe/Paris',
    '2026-10-24T22:30:00Z',
    ['25 02:00 +02:00', '25 04:00 +01:00', '25 06:00 +01:00'],
  ],
  // New York, 8 March and 1 November 2026.
  ['30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', ['8 03:00 -04:00', '9 02:30 -04:00']],
  ['15,45 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', ['8 03:00 -04:00', '9 02:15 -04:00']],
  [
    '*/30 * * * *',
    'America/New_York',
    '2026-03-08T06:15:00Z',
    ['8 01:30 -05:00', '8 03:00 -04:00', '8 03:30 -04:00'],
  ],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', ['1 01:30 -04:00', '2 01:30 -05:00']],
  [
    '*/30 * * * *',
    'America/New_York',
    '2026-11-01T05:15:00Z',
    ['1 01:30 -04:00', '1 01:00 -05:00', '1 01:30 -05:00', '1 02:00 -05:00'],
  ],
  // Starting within the second pass: nothing of the first is repeated.
  ['*/10 1 * * *', 'America/New_York', '2026-11-01T06:05:00Z', ['2 01:00 -05:00']],
  ['*/20 1,2 * * *', 'America/New_York', '2026-11-01T06:05:00Z', ['1 02:00 -05:00', '1 02:20 -05:00']],
  // Lord Howe changes by half an hour: 4 October 2026, 02:00 to 02:30 does not exist; 5 April 2026, 01:30 to
  // 02:00 occurs twice.
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', ['4 02:30 +11:00', '5 02:15 +11:00']],
  ['0,15,30 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', ['4 02:30 +11:00', '5 02:00 +11:00']],
  [
    '*/15 * * * *',
    'Australia/Lord_Howe',
    '2026-10-03T15:20:00Z',
    ['4 02:30 +11:00', '4 02:45 +11:00', '4 03:00 +11:00'],
  ],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00:00Z', ['5 01:45 +11:00', '6 01:45 +10:30']],
  [
    '*/15 * * * *',
    'Australia/Lord_Howe',
    '2026-04-04T14:40:00Z',
    ['5 01:45 +11:00', '5 01:30 +10:30', '5 01:45 +10:30', '5 02:00 +10:30'],
  ],
  // Cairo changes at midnight, so a day starts at 01:00.
  ['@daily', 'Africa/Cairo', '2026-04-23T12:00:00Z', ['24 01:00 +03:00', '25 00:00 +03:00']],
  ['0 */6 * * *', 'Africa/Cairo', '2026-04-23T18:00:00Z', ['24 01:00 +03:00', '24 06:00 +03:00']],
  // Nuuk changes on the evening before, so the first instant after the gap is on the next day.
  ['30 23 * * SAT', 'America/Nuuk', '2026-03-27T22:00:00Z', ['29 00:00 -01:00', '4 23:30 -01:00']],
]

describe('clock changes', () => {
  test.each(CHANGES)('%s in %s after %s', (when, zone, from, expected) => {
    expect(local(timing(when, zone), from, expected.length)).toEqual(expected)
  })

  test('a skipped day is made up for once', () => {
    // Samoa skipped from 29 to 31 December 2011.
    expect(runs(timing('0 9 * * *', 'Pacific/Apia'), '2011-12-29T00:00:00Z', 3)).toEqual([
      '2011-12-29T19:00:00Z',
      '2011-12-30T10:00:00Z',
      '2011-12-30T19:00:00Z',
    ])
  })

  test('intervals follow elapsed time', () => {
    const every = { ...timing('every 30m', 'Europe/Paris'), startAt: at('2026-10-25T00:15:00Z') }
    expect(runs(every, '2026-10-25T00:15:00Z', 3)).toEqual([
      '2026-10-25T00:45:00Z',
      '2026-10-25T01:15:00Z',
      '2026-10-25T01:45:00Z',
    ])
  })
})

describe('intervals', () => {
  test('count from the creation of the schedule; the first tick is one interval later', () => {
    expect(runs(timing('every 10m'), '2026-01-01T00:00:00Z', 2, '2026-01-01T00:03:00Z')).toEqual([
      '2026-01-01T00:13:00Z',
      '2026-01-01T00:23:00Z',
    ])
    expect(runs(timing('every 10m'), '2026-01-01T00:23:00Z', 1, '2026-01-01T00:03:00Z')).toEqual([
      '2026-01-01T00:33:00Z',
    ])
  })

  test('with a start begin at it', () => {
    const started = timing('every 10m', 'UTC', { start: '2026-02-01T00:00:00Z' })
    expect(runs(started, '2026-01-01T00:00:00Z', 2)).toEqual(['2026-02-01T00:00:00Z', '2026-02-01T00:10:00Z'])
    expect(runs(started, '2026-03-01T00:04:00Z', 1)).toEqual(['2026-03-01T00:10:00Z'])
  })
})

describe('start and end', () => {
  const between = { start: '2026-02-01T09:00:00Z', end: '2026-02-02T09:00:00Z' }

  test('are inclusive', () => {
    expect(runs(timing('0 9 * * *', 'UTC', between), '2026-01-01T00:00:00Z', 9)).toEqual([
      '2026-02-01T09:00:00Z',
      '2026-02-02T09:00:00Z',
    ])
    expect(runs(timing('every 12h', 'UTC', between), '2026-01-01T00:00:00Z', 9)).toHaveLength(3)
  })

  test('there is no tick after the end', () => {
    expect(runs(timing('0 9 * * *', 'UTC', between), '2026-02-02T09:00:00Z', 9)).toEqual([])
  })

  test('there is no tick after 2199, the last year in which a job can be due', () => {
    expect(runs(timing('@yearly'), '2199-06-01T00:00:00Z', 9)).toEqual(['2200-01-01T00:00:00Z'])
    expect(runs(timing('every 3650d'), '2199-12-01T00:00:00Z', 9)).toEqual([])
  })
})

describe('previous ticks', () => {
  test.each(['0 9 * * MON-FRI', '*/5 1-3 * * *', 'every 7m', '30 2 * * *', '0 0 1 1 *'])(
    '%s: lastBefore and count agree with a linear search',
    (when) => {
      const instants = instantsOf(timing(when, 'Europe/Paris'), at('2025-01-01T00:00:00Z'))
      const from = instants.after(at('2025-03-25T00:00:00Z')) ?? 0
      for (const days of [0, 1, 2.4, 5, 30, 400]) {
        const before = from + days * 86_400_000 + 1
        const walked: number[] = []
        for (let one: number | null = from; one !== null && one < before; one = instants.after(one))
          walked.push(one)
        expect(instants.lastBefore(before, from)).toBe(walked.at(-1))
        expect(instants.count(from, before)).toBe(
          Math.min(walked.length, when === 'every 7m' ? Infinity : 10_000),
        )
      }
    },
  )

  test('of a calendar are counted up to 10,000, of an interval without a bound', () => {
    const [from, before] = [at('2020-01-01T00:00:00Z'), at('2026-01-01T00:00:00Z')]
    expect(instantsOf(timing('* * * * * *'), 0).count(from, before)).toBe(10_000)
    expect(instantsOf(timing('every 1s'), from - 1_000).count(from, before)).toBe((before - from) / 1_000)
    const ended = timing('every 1s', 'UTC', { start: '2020-01-01T00:00:00Z', end: '2020-01-01T00:00:09Z' })
    expect(instantsOf(ended, 0).count(from, before)).toBe(10)
  })

  test('are found without iterating over many millions', () => {
    const [from, before] = [at('1990-01-01T00:00:00Z'), at('2026-06-01T00:00:00.5Z')]
    expect(instantsOf(timing('* * * * * *', 'Europe/Paris'), 0).lastBefore(before, from)).toBe(
      at('2026-06-01T00:00:00Z'),
    )
    expect(instantsOf(timing('every 1s'), from - 1_000).lastBefore(before, from)).toBe(
      at('2026-06-01T00:00:00Z'),
    )
  })
})
