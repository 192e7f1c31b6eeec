/**
 * Validates the option names of a schedule, and suggests the right option for the names that other libraries
 * use.
 */
import { JobmillError, pathOf, quote } from '../errors.ts'
import { checkObjectKeys } from '../options/known-keys.ts'

const ELSEWHERE: Readonly<Record<string, string>> = {
  cron: "when: '0 9 * * MON'",
  expression: "when: '0 9 * * MON'",
  pattern: "when: '0 9 * * MON'",
  interval: "when: 'every 10m'",
  tz: "zone: 'Europe/Paris'",
  timezone: "zone: 'Europe/Paris'",
  timeZone: "zone: 'Europe/Paris'",
  kind: "job: 'email.send'",
}

export function checkScheduleKeys(options: unknown, field: string, known: readonly string[]): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) {
    const key = Object.keys(options).find((one) => Object.hasOwn(ELSEWHERE, one) && !known.includes(one))
    if (key !== undefined) {
      throw new JobmillError('OPTION_UNKNOWN', 'is not an option', {
        field: pathOf(field, key),
        value: quote(key),
        fix: `Use ${ELSEWHERE[key]}`,
      })
    }
  }
  checkObjectKeys(options, field, known)
}
