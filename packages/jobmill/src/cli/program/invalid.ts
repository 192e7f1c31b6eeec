/** Errors about what was typed: `--port: is not a port number (got "x"). Use a number up to 65535.` */
import { type ErrorCode, JobmillError, quote } from '../../job/errors.ts'

export function invalid(
  field: string,
  what: string,
  fix: string,
  value?: string,
  code: ErrorCode = 'OPTION_INVALID',
): JobmillError {
  return new JobmillError(code, what, { field, fix, ...(value !== undefined && { value: quote(value) }) })
}

/** For options that cannot be combined. */
export function conflict(field: string, what: string, fix: string, value?: string): JobmillError {
  return invalid(field, what, fix, value, 'OPTION_CONFLICT')
}
