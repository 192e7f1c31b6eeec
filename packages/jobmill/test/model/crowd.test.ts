// Properties that must hold while several handles write concurrently, in an unknown order: a dedupe key has
// at most one live holder, and a job has at most one lease.
// oxlint-disable vitest/expect-expect -- `check` throws when a property does not hold
import { describe, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { currentPostgresSubject } from '../conformance/postgres-subject.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { check, timeoutMs } from './check.ts'
import { claimOnce, dedupeOnce } from './crowd.ts'
import { aCrowd } from './crowd-acts.ts'

const FILE = 'packages/jobmill/test/model/crowd.test.ts'
const RUNS = inFull(12, 1)

describe.each([
  { name: 'sqlite', subject: sqliteSubject() },
  { name: 'postgres', subject: currentPostgresSubject() },
])('crowd: $name', ({ subject }) => {
  test(
    'P2 P3 each job is leased once, however many instances claim at once',
    () => check(FILE, aCrowd, RUNS, (crowd) => claimOnce(subject, crowd)),
    timeoutMs(RUNS),
  )

  test(
    'P3 P11 a dedupe key has one live holder, however many callers enqueue, claim and finish at once',
    () => check(FILE, aCrowd, RUNS, (crowd) => dedupeOnce(subject, crowd)),
    timeoutMs(RUNS),
  )
})
