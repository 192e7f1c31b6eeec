/** The error for a store that did not answer for an item of a call. */
import { JobmillError } from './errors.ts'

export function noReply(): JobmillError {
  return new JobmillError('OUTCOME_UNKNOWN', 'the store returned no reply', {
    fix: 'Check whether the write was applied before you retry the call',
  })
}
