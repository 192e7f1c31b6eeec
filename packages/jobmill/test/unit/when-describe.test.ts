// Expressions in English.
import { describe, expect, test } from 'vitest'
import { describeWhen } from '../../src/job/when/describe-when.ts'
import { refusal } from './support.ts'

describe('in English', () => {
  test.each([
    ['every 10m', 'every 10 minutes'],
    ['every 1h', 'every hour'],
    ['every 1h30m', 'every 1 hour and 30 minutes'],
    ['every 1s', 'every second'],
    ['every 1500ms', 'every 1.5 seconds'],
    ['every 1d', 'every 24 hours'],
    ['* * * * *', 'every minute'],
    ['*/10 * * * *', 'every 10 minutes'],
    ['*/7 * * * *', 'every 7 minutes from minute 0 to 56'],
    ['10-20 * * * *', 'every minute from minute 10 to 20'],
    ['0 * * * *', 'every hour'],
    ['30 * * * *', 'every hour at minute 30'],
    ['15 0 * * * *', 'every hour at second 15'],
    ['15 30 * * * *', 'every hour at minute 30 and second 15'],
    ['0,30 * * * *', 'every hour at minutes 0 and 30'],
    ['0 */2 * * *', 'every 2 hours'],
    ['15 */2 * * *', 'every 2 hours at minute 15'],
    ['0 */5 * * *', 'at 00:00, 05:00, 10:00, 15:00 and 20:00 every day'],
    ['0 9 * * *', 'at 09:00 every day'],
    ['15 0 9 * * *', 'at 09:00:15 every day'],
    ['0,30 9,17 * * *', 'at 09:00, 09:30, 17:00 and 17:30 every day'],
    ['0 9-17 * * *', 'every hour from 09:00 to 17:00'],
    ['30 9-17/2 * * *', 'every 2 hours from 09:30 to 17:30'],
    ['*/30 1-3 * * *', 'every 30 minutes from 01:00 to 03:59'],
    ['*/15 9-17 * * 1-5', 'every 15 minutes from 09:00 to 17:59, from Monday to Friday'],
    ['5,35 8-10,14 * * *', 'at minutes 5 and 35 in the hours 08:00, 09:00, 10:00 and 14:00'],
    ['*/10 * * * * *', 'every 10 seconds'],
    ['30 * * * * *', 'every minute at second 30'],
    ['0,30 * * * * *', 'every minute at seconds 0 and 30'],
    ['15 */10 * * * *', 'every 10 minutes, at second 15'],
    ['* * 9 * * *', 'every second from 09:00 to 09:59'],
    ['*/10 5 * * * *', 'every 10 seconds, in minute 5 of every hour'],
    ['*/10 */5 9,12 * * *', 'every 10 seconds, in every 5th minute in the hours 09:00 and 12:00'],
    ['0 9 * * MON-FRI', 'at 09:00 from Monday to Friday'],
    ['0 0 * * SUN,SAT', 'at 00:00 on Saturday and Sunday'],
    ['0 0 * * 6-7', 'at 00:00 on Saturday and Sunday'],
    ['0 0 * * 1,3,5', 'at 00:00 on Monday, Wednesday and Friday'],
    ['30 2 L * *', 'at 02:30 on the last day of the month'],
    ['0 0 1,15,L * *', 'at 00:00 on the 1st, the 15th and the last day of the month'],
    [
      '0 0 2,3,11,12,13,21,22,23 * *',
      'at 00:00 on the 2nd, the 3rd, the 11th, the 12th, the 13th, the 21st, the 22nd and the 23rd of the month',
    ],
    ['0 0 1-7 * *', 'at 00:00 from the 1st to the 7th of the month'],
    ['0 0 */2 * *', 'at 00:00 on every 2nd day from the 1st of the month'],
    ['0 0 5-15/5 * *', 'at 00:00 on every 5th day from the 5th of the month to the 15th'],
    ['0 0 29 2 *', 'at 00:00 on the 29th of February'],
    ['0 0 1 1,4,7 *', 'at 00:00 on the 1st of January, April and July'],
    ['0 0 1 4-9 *', 'at 00:00 on the 1st of each month from April to September'],
    ['0 0 * 1,7 *', 'at 00:00 every day in January and July'],
    ['0 0 * * MON', 'at 00:00 on Monday'],
    ['0 0 * 4-9 MON', 'at 00:00 on Monday from April to September'],
    ['* * * 4-9 *', 'every minute from April to September'],
    ['0 0 13 * FRI', 'at 00:00 on the 13th of the month, or on Friday'],
    ['0 0 */2 * MON', 'at 00:00 on Monday, if that is every 2nd day from the 1st of the month'],
    ['@yearly', 'at 00:00 on the 1st of January'],
    ['@monthly', 'at 00:00 on the 1st of the month'],
    ['@weekly', 'at 00:00 on Sunday'],
    ['@daily', 'at 00:00 every day'],
    ['@hourly', 'every hour'],
  ])('%s is %j', (when, text) => expect(describeWhen(when)).toBe(text))

  test.each([
    ['0 9 * * MON-FRI', 'Europe/Paris', 'at 09:00 from Monday to Friday, Europe/Paris time'],
    ['0 9 * * *', 'UTC', 'at 09:00 every day, UTC'],
    ['* * * * MON', 'Europe/Paris', 'every minute on Monday, Europe/Paris time'],
    ['*/5 * * * *', 'Europe/Paris', 'every 5 minutes'],
    ['every 1h', 'Europe/Paris', 'every hour'],
  ])('%s in %s names the zone if it makes a difference', (when, zone, text) =>
    expect(describeWhen(when, zone)).toBe(text),
  )

  test('an invalid expression is refused', () => {
    expect(refusal(() => describeWhen('0 25 * * *')).code).toBe('SCHEDULE_INVALID')
  })
})
