/**
 * Errors that a retry cannot fix: `Dead`, and values that no database can store, such as NUL or an oversized
 * text.
 */
import { Dead, isJobmillError } from 'jobmill'

export function isHopeless(error: unknown): boolean {
  return error instanceof Dead || (isJobmillError(error) && error.code.startsWith('PAYLOAD_'))
}
