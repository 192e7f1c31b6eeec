/** The error about a value that a program or a command line passed. */
import { JobmillError } from 'jobmill'
import { type ErrorCode, quote } from 'jobmill/store'

export function invalid(
  field: string,
  value: unknown,
  what: string,
  fix: string,
  code: ErrorCode = 'OPTION_INVALID',
): JobmillError {
  return new JobmillError(code, what, { field, value: quote(value), fix })
}
