/** What no database can ever keep, such as NUL, or a text that is too long: to try it again changes nothing. */
import { Dead, isJobmillError } from 'jobmill'

export function isHopeless(error: unknown): boolean {
  return error instanceof Dead || (isJobmillError(error) && error.code.startsWith('PAYLOAD_'))
}
