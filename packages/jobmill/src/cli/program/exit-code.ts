/** Maps errors to exit codes, so that scripts can distinguish them. */
import { type ErrorCode, isJobmillError } from '../../job/errors.ts'
import { EXIT } from './command.ts'

/** All other errors come from the arguments or the config. */
const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  ALERT_UNKNOWN: EXIT.refused,
  ATTEMPT_ENDED: EXIT.failed,
  DATA_REFUSED: EXIT.failed,
  INSTANCE_ENDED: EXIT.refused,
  INSTANCE_UNKNOWN: EXIT.refused,
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
  LEASE_LOST: EXIT.failed,
  MILL_STOPPED: EXIT.failed,
  OVERLOADED: EXIT.failed,
  RESULT_TIMEOUT: EXIT.failed,
  SCHEMA_CHANGED: EXIT.refused,
  SCHEMA_NEWER: EXIT.refused,
  SCHEMA_OUTDATED: EXIT.refused,
  STORE_BUSY: EXIT.unavailable,
  STORE_CLOSED: EXIT.failed,
  STORE_REFUSED: EXIT.unavailable,
  STORE_UNAVAILABLE: EXIT.unavailable,
  STORE_UNSUPPORTED: EXIT.unavailable,
  TX_ROLLED_BACK: EXIT.failed,
  TX_STALE: EXIT.unavailable,
  OUTCOME_UNKNOWN: EXIT.failed,
}

export function exitCodeOf(error: unknown): number {
  return isJobmillError(error) ? (CODES[error.code] ?? EXIT.usage) : EXIT.failed
}
