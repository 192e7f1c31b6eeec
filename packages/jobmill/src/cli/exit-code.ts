/** Maps errors to exit codes, so that scripts can distinguish them. */
import { type ErrorCode, isJobmillError } from '../job/errors.ts'
import { EXIT } from './command.ts'

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  JOB_CANCELLED: EXIT.failed,
  JOB_DEAD: EXIT.failed,
  JOB_UNKNOWN: EXIT.refused,
  LIMIT_IN_USE: EXIT.refused,
  LIMIT_UNKNOWN: EXIT.refused,
  TRANSFER_REFUSED: EXIT.refused,
  QUEUE_UNKNOWN: EXIT.refused,
  RESULT_NOT_KEPT: EXIT.failed,
  SCHEDULE_EXISTS: EXIT.refused,
  SCHEDULE_UNKNOWN: EXIT.refused,
  DUTY_UNKNOWN: EXIT.refused,
  STORE_BUSY: EXIT.unavailable,
  STORE_REFUSED: EXIT.unavailable,
  STORE_UNAVAILABLE: EXIT.unavailable,
  OUTCOME_UNKNOWN: EXIT.failed,
}

export function exitCodeOf(error: unknown): number {
  return isJobmillError(error) ? (CODES[error.code] ?? EXIT.usage) : EXIT.failed
}
