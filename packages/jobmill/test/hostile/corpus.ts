/** Hostile input that a sane caller would never send. */
import * as fc from 'fast-check'
import { isJobmillError } from '../../src/job/errors.ts'

const MANY = 100_000
const TEN_MB = 10_000_000

/** For every place that takes a text. */
export const TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff\ud800y',
  '\u202e\u200b\ufeff',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "'; DROP TABLE jobmill.job; --",
  '$1 %s {0} ${1}',
  '../../../etc/passwd',
  '<script>alert(1)</script>',
  'NaN',
  'Infinity',
  '-0',
  '1e999',
  '0x10',
  '１２',
  'null',
  '[]',
  'a'.repeat(TEN_MB),
  '9'.repeat(TEN_MB),
  '('.repeat(MANY),
  ' '.repeat(TEN_MB),
  '\n'.repeat(MANY),
  '😀'.repeat(MANY),
]

/** For schedules. */
export const WHENS: readonly string[] = [
  '0 0 1--100000000 * *',
  '0 0 1-100000000 * *',
  '31 2',
  '0 0 31 2 *',
  '0 0 30 2 *',
  '0 0 29 2 1',
  '0 0 31 4,6,9,11 *',
  '59 59 23 31 12 7',
  '*/0 * * * *',
  '*/100000000000 * * * *',
  '0-59/0 * * * *',
  '59-0 * * * *',
  '1-2-3 * * * *',
  '/ / / / /',
  ', , , , ,',
  '- - - - -',
  '* * * * * * *',
  '99999999999999999999 * * * *',
  '-1 * * * *',
  '1.5 * * * *',
  '1e1 * * * *',
  '0 0 * * MON-SUN-MON',
  '0 0 * JANUARY *',
  '0 0 L * *',
  '0 0 ? * ?',
  '0 0 15W * *',
  '0 0 * * 5#3',
  '@',
  '@@@@',
  '@every 1s',
  '@reboot',
  'every',
  'every 0s',
  'every 0.0000001ms',
  'every -1s',
  'every 1e309s',
  'every 10000000000 years',
  `every ${'9'.repeat(MANY)}ms`,
  `${'1,'.repeat(MANY)}1 * * * *`,
  `${'*/1,'.repeat(MANY)}* * * * *`,
  `* * * * ${'MON,'.repeat(MANY)}TUE`,
  '* '.repeat(MANY),
]

/** The bound is 100 ms of work; five times that leaves room for garbage collection. */
const MOST_MS = 500
const LONGEST_MESSAGE = 5_000

/**
 * The fault of a call. Null when it returned a value that `isFine`, or threw a JobmillError with a short
 * message, within the time limit.
 */
export function faultOf<T>(call: () => T, isFine: (value: T) => boolean = () => true): string | null {
  const began = process.cpuUsage()
  let fault: string | null = null
  try {
    if (!isFine(call())) fault = 'it returned what makes no sense'
  } catch (error) {
    if (!isJobmillError(error)) fault = `it threw ${String(error)}`
    else if (error.message.length > LONGEST_MESSAGE)
      fault = `its message has ${error.message.length} characters`
  }
  const { user, system } = process.cpuUsage(began)
  const ms = (user + system) / 1_000
  return fault ?? (ms > MOST_MS ? `it took ${ms.toFixed(0)} ms` : null)
}

/** The fault of the call for each of them. */
export function faultsOf<Input>(inputs: readonly Input[], call: (one: Input) => unknown): string[] {
  return inputs.flatMap((one) => {
    const fault = faultOf(() => call(one))
    return fault === null ? [] : [`${nameOf(one)}: ${fault}`]
  })
}

function nameOf(one: unknown): string {
  return typeof one === 'string' ? JSON.stringify(one.slice(0, 40)) : typeof one
}

/** Null when it holds for every drawn value; else the smallest counterexample. */
export function brokenBy<Input extends [unknown, ...unknown[]]>(
  property: fc.IProperty<Input>,
): string | null {
  const report = fc.check(property)
  return report.failed ? (fc.defaultReportMessage(report) ?? 'it failed') : null
}
