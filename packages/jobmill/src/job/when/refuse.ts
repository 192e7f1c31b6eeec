/** Refuses an expression, with the position of the error. */
import { JobmillError, quote } from '../errors.ts'

/** `at` counts characters from 1. */
export type Refuse = (at: number, what: string, fix: string) => never

export function refuseIn(text: string, field: string): Refuse {
  return (at, what, fix) => {
    throw new JobmillError('SCHEDULE_INVALID', `${what}, at character ${at}`, {
      field,
      value: quote(text),
      fix,
    })
  }
}
