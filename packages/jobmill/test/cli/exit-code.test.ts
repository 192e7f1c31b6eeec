// Exit codes: errors of the database and of the current state are not errors of usage.
import { expect, test } from 'vitest'
import { exitCodeOf } from '../../src/cli/program/exit-code.ts'
import { type ErrorCode, ERRORS, JobmillError } from '../../src/job/errors.ts'

const EXPECTED: Readonly<Record<number, string>> = {
  1: `ATTEMPT_ENDED DATA_REFUSED JOB_CANCELLED JOB_DEAD LEASE_LOST MILL_STOPPED OUTCOME_UNKNOWN OVERLOADED
    RESULT_NOT_KEPT RESULT_TIMEOUT STORE_CLOSED TX_ROLLED_BACK`,
  3: `ALERT_UNKNOWN DUTY_UNKNOWN INSTANCE_ENDED INSTANCE_UNKNOWN JOB_UNKNOWN LIMIT_IN_USE LIMIT_UNKNOWN QUEUE_UNKNOWN SCHEDULE_EXISTS SCHEDULE_UNKNOWN
    SCHEMA_CHANGED SCHEMA_NEWER SCHEMA_OUTDATED TRANSFER_REFUSED`,
  4: 'STORE_BUSY STORE_REFUSED STORE_UNAVAILABLE STORE_UNSUPPORTED TX_STALE',
}

test('S low only errors of the arguments and the config exit with 2', () => {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  for (const [code, names] of Object.entries(EXPECTED))
    expect(codes.filter((one) => exitCodeOf(new JobmillError(one, 'x')) === Number(code)).toSorted()).toEqual(
      names.split(/\s+/).toSorted(),
    )
  expect(exitCodeOf(new Error('x'))).toBe(1)
})
