/** Errors of values that no database can store, such as NUL or an oversized text. A retry cannot help. */
import { Dead, isJobmillError } from 'jobmill'

export function isHopeless(error: unknown): boolean {
  return error instanceof Dead || (isJobmillError(error) && error.code.startsWith('PAYLOAD_'))
}
