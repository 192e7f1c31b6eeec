// Valid expressions, and refusals with the position of the error and a fix.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Calendar, parseWhen, tidyWhen } from '../../src/job/when/parse-when.ts'
import { checkZone } from '../../src/job/when/zone-clock.ts'
import { refusal } from './support.ts'

function calendar(text: string): Calendar {
  const when = parseWhen(text)
  if (when.type !== 'calendar') throw new Error(`${text} is an interval`)
  return when
}

const refused = (text: string): string => refusal(() => parseWhen(text)).message

describe('fields', () => {
  test('number five, or six with seconds first', () => {
    expect(calendar('5 4 3 2 1')).toMatchObject({
      second: { values: [0] },
      minute: { values: [5] },
      hour: { values: [4] },
      day: { values: [3] },
      month: { values: [2] },
      weekday: { values: [1] },
    })
    expect(calendar('6 5 4 3 2 1')).toMatchObject({ second: { values: [6] }, minute: { values: [5] } })
    expect(calendar('  5\t4  3 2 1 ')).toEqual(calendar('5 4 3 2 1'))
    expect(tidyWhen('  5\t4  3 2 1 ')).toBe('5 4 3 2 1')
  })

  test.each([
    ['1,3,5 * * * *', 'minute', [1, 3, 5]],
    ['5,1,5 * * * *', 'minute', [1, 5]],
    ['1-4 * * * *', 'minute', [1, 2, 3, 4]],
    ['*/20 * * * *', 'minute', [0, 20, 40]],
    ['10-30/10,45 * * * *', 'minute', [10, 20, 30, 45]],
    ['0 0 ? * *', 'day', Array.from({ length: 31 }, (_, n) => n + 1)],
    ['0 0 */10 * *', 'day', [1, 11, 21, 31]],
    ['0 0 * jan,Mar,DEC *', 'month', [1, 3, 12]],
    ['0 0 * FEB-apr *', 'month', [2, 3, 4]],
    ['0 0 * */5 *', 'month', [1, 6, 11]],
    ['0 0 * * MON', 'weekday', [1]],
    ['0 0 * * mon-fri', 'weekday', [1, 2, 3, 4, 5]],
    ['0 0 * * SAT-SUN', 'weekday', [0, 6]],
    ['0 0 * * 5-7', 'weekday', [0, 5, 6]],
    ['0 0 * * 7', 'weekday', [0]],
    ['0 0 * * 0-7', 'weekday', [0, 1, 2, 3, 4, 5, 6]],
    ['0 0 * * 1-7/3', 'weekday', [0, 1, 4]],
    ['0 0 * * SUN-TUE', 'weekday', [0, 1, 2]],
  ] as const)('%s names the %ss', (text, field, values) => {
    expect(calendar(text)[field].values).toEqual(values)
  })

  test('A docs/learn/schedules.md says how weekday numbers, both day fields and years differ from other crons', () => {
    const page = readFileSync(new URL('../../../../docs/learn/schedules.md', import.meta.url), 'utf8')
    const [, list = ''] =
      /^If your expressions come from another cron implementation, check three things:\n\n([^]*?)\n\n/m.exec(
        page,
      ) ?? []
    const said = new Map(
      list
        .replaceAll(/\n {2}/g, ' ')
        .split('\n')
        .map((line) => line.slice('- **'.length).split('.** ') as [string, string]),
    )
    expect([...said.keys()]).toEqual(['Weekday numbers', 'Both day fields set', 'Years'])
    expect(said.get('Weekday numbers')).toMatch(/^Sunday is 0 or 7, .* the Rust crate `cron`, Sunday is 1\./)
    for (const sunday of ['0', '7', 'SUN']) expect(calendar(`0 0 * * ${sunday}`).weekday.values).toEqual([0])
    expect(said.get('Both day fields set')).toMatch(/^One match is enough, .* `cron`, both must match\.$/)
    expect(calendar('0 0 13 * FRI').eitherDay).toBe(true)
    expect(said.get('Years')).toMatch(/^Jobmill rejects a seventh field\./)
    expect(refused('0 0 9 * * MON 2027')).toContain('has a seventh field')
  })

  test('A a year is refused by name, with an alternative', () => {
    expect(refused('0 0 9 * * MON *')).toContain(
      'has a seventh field, the year, which is not supported, at character 15',
    )
    expect(refused('0 0 9 * * MON *')).toContain('Omit it: the schedule runs every year without it')
    expect(refused('0 0 9 * * MON 2027-2030')).toContain('limit the years with start and end')
  })

  test('L is the last day of the month, alone or in a list', () => {
    expect(calendar('0 0 L * *').day).toMatchObject({ last: true, values: [] })
    expect(calendar('0 0 1,15,l * *').day).toMatchObject({ last: true, values: [1, 15] })
  })

  test('a day matches either day field if both are restricted, and * with a step does not restrict', () => {
    expect(calendar('0 0 13 * FRI').eitherDay).toBe(true)
    expect(calendar('0 0 L * FRI').eitherDay).toBe(true)
    expect(calendar('0 0 */2 * FRI').eitherDay).toBe(false)
    expect(calendar('0 0 13 * ?').eitherDay).toBe(false)
  })

  test.each([
    ['0 * * * *', 'every'],
    ['0 0-23 * * *', 'every'],
    ['0 */2 * * *', 'steps'],
    ['0 0-23/2 * * *', 'named'],
    ['0 2 * * *', 'named'],
  ])('the hours of %s are classified as %s', (text, hours) => expect(calendar(text).hours).toBe(hours))
})

describe('nicknames and intervals', () => {
  test.each([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@Hourly', '0 * * * *'],
  ])('%s is %s', (nickname, fields) => expect(parseWhen(nickname)).toEqual(parseWhen(fields)))

  test.each([
    ['every 10m', 600_000],
    ['Every 1h30m', 5_400_000],
    ['every 1h 30m', 5_400_000],
    ['every 1s', 1_000],
    ['every 1.5s', 1_500],
    ['every 3650d', 3_650 * 86_400_000],
  ])('%s is %i ms', (text, ms) => expect(parseWhen(text)).toEqual({ type: 'interval', ms }))
})

describe('refused', () => {
  test.each([
    ['60 * * * *', 1, 'the minute "60" is invalid', 'a number from 0 to 59'],
    ['0 25 * * *', 3, 'the hour "25" is invalid', 'a number from 0 to 23'],
    ['0 0 0 * *', 5, 'the day of the month "0" is invalid', 'L for the last day'],
    ['0 0 1 13 *', 7, 'the month "13" is invalid', 'a name from JAN to DEC'],
    ['0 0 * * MOM', 9, 'the day of the week "MOM" is invalid', 'a name from SUN to SAT'],
    ['0 0 * * 8', 9, 'the day of the week "8"', 'a number from 0 to 6'],
    ['1,2,99 * * * *', 5, 'the minute "99" is invalid', ''],
    ['1-99 * * * *', 3, 'the minute "99" is invalid', ''],
    ['- * * * *', 1, 'the minute "" is invalid', ''],
    ['1- * * * *', 3, 'the minute "" is invalid', ''],
    ['1.5 * * * *', 1, 'the minute "1.5" is invalid', ''],
    ['-1 * * * *', 1, 'the minute "" is invalid', ''],
    ['0 0 LW * *', 5, 'the day of the month "LW" is invalid', ''],
    ['0 L * * *', 3, 'the hour "L" is invalid', ''],
    ['0 0 * * MON#2', 9, 'the day of the week "MON#2" is invalid', ''],
    ['1,,2 * * * *', 3, 'the minute has an empty list item', 'Remove the extra comma'],
    ['1, * * * *', 3, 'the minute has an empty list item', 'Remove the extra comma'],
    ['*/0 * * * *', 3, 'the step "0" of the minute must be from 1 to 59', '*/5'],
    ['*/x * * * *', 3, 'the step "x" of the minute', '*/5'],
    ['*/90 * * * *', 3, 'the step "90" of the minute must be from 1 to 59', 'every 90m'],
    ['0 */24 * * *', 5, 'the step "24" of the hour must be from 1 to 23', ''],
    ['5/15 * * * *', 1, 'a step must follow a range', 'Use 5-59/15'],
    ['0 22-2 * * *', 3, 'the range "22-2" ends before it starts', '22-23,0-2'],
    ['0 0 * * 5-0', 9, 'the range "5-0" ends before it starts', '5-6,0-0'],
    ['0 0 * * FRI-MON', 9, 'the range "FRI-MON" ends before it starts', 'FRI-6,0-MON'],
    ['0 0 * * 7-2', 9, 'the range "7-2" ends before it starts', 'Use 0-2'],
    ['0 0 * * 7-4/2', 9, 'the range "7-4" ends before it starts', 'Use 0-4/2'],
    ['0 22-4/2 * * *', 3, 'the range "22-4" ends before it starts', 'Use a list: 22,0,2,4'],
    ['0 0 1 NOV-FEB/3 *', 7, 'the range "NOV-FEB" ends before it starts', 'Use a list: 11,2'],
    ['0 0 * * 7/2', 9, 'a step must follow a range', 'Use 0-6/2'],
    ['* * * *', 8, 'has 4 fields instead of 5 or 6', 'Pass five fields'],
    ['daily', 6, 'has 1 field instead of 5 or 6', '@daily'],
    ['* * * * * * *', 13, 'has a seventh field, the year', 'Omit it'],
    ['* * * * * * * *', 13, 'has 8 fields instead of 5 or 6', ''],
    ['  ', 1, 'is empty', 'Pass five fields'],
    ['0 0 31 2 *', 5, 'no selected month has this day', 'L for the last day'],
    ['0 0 30,31 FEB ?', 5, 'no selected month has this day', ''],
    ['0 0 0 31 4,6,9,11 *', 7, 'no selected month has this day', ''],
    ['@dayly', 1, '"@dayly" is not a known nickname', 'Did you mean @daily?'],
    ['@reboot', 1, '"@reboot" is not a known nickname', 'Use one of: @yearly'],
    ['@every 5m', 1, '"@every" is not a known nickname', 'Use "every 5m"'],
    ['@daily 5', 8, 'nothing can follow @daily', 'Remove "5"'],
    ['every', 6, '"" is not a duration', 'every 10m'],
    ['every  10 minutes', 8, '"10 minutes" is not a duration', 'every 10m'],
    ['every 999ms', 7, '"999ms" is shorter than 1 s', 'from 1 s'],
    ['every 4000d', 7, '"4000d" is not a duration, or is too long', 'ten years'],
  ])('%j, at character %i', (text, at, what, fix) => {
    const error = refusal(() => parseWhen(text, 'schedule.when'))
    expect(error).toMatchObject({
      code: 'SCHEDULE_INVALID',
      field: 'schedule.when',
      value: JSON.stringify(text),
    })
    expect(error.message).toContain(what)
    expect(error.message).toContain(`, at character ${at} (`)
    expect(error.fix).toContain(fix)
  })

  test.each([
    ['a number', 5],
    ['nothing', undefined],
    ['a text that is far too long', '1,'.repeat(300)],
  ])('%s is not an expression', (_, text) =>
    expect(refusal(() => parseWhen(text)).code).toBe('SCHEDULE_INVALID'),
  )

  test('29 February is accepted, and so is 31 February with a weekday', () => {
    expect(calendar('0 0 29 2 *').day.values).toEqual([29])
    expect(calendar('0 0 31 2 MON').eitherDay).toBe(true)
  })
})

describe('a time zone', () => {
  test.each(['Europe/Paris', 'UTC', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata'])('can be %s', (zone) =>
    expect(checkZone(zone, 'zone')).toBe(zone),
  )

  test.each([
    ['Europe/Pari', 'Did you mean "Europe/Paris"?'],
    ['Paris', 'Did you mean "Europe/Paris"?'],
    ['new york', 'Did you mean "America/New_York"?'],
    ['Middle/Earth-of-nowhere', 'Pass a name such as "Europe/Paris", or "UTC"'],
    ['', 'Pass a name such as "Europe/Paris", or "UTC"'],
    [7, 'Pass a name such as "Europe/Paris", or "UTC"'],
  ])('cannot be %j', (zone, fix) => {
    const error = refusal(() => checkZone(zone, 'schedule.zone'))
    expect(error).toMatchObject({ code: 'SCHEDULE_INVALID', field: 'schedule.zone', fix })
  })
})
