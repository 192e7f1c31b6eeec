// Properties that must hold while several handles write concurrently, in an unknown order: a dedupe key has
// at most one live holder, and a job has at most one lease.
// oxlint-disable vitest/expect-expect -- `check` throws when a property does not hold
import { describe, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { currentPostgresSubject, withUsualBatches } from '../conformance/postgres-subject.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { check, timeoutMs } from './check.ts'
import { claimOnce, dedupeOnce } from './crowd.ts'
import { aCrowd } from './crowd-acts.ts'

const FILE = 'packages/jobmill/test/model/crowd.test.ts'
const RUNS = inFull(12, 1)

const postgres = currentPostgresSubject()
// In `npm test`, each property runs with one of them. Jobs with a dedupe key are never in a batch.
const SIZES = ['postgres, a batch for every claim', 'postgres'] as const

describe.each([
  { name: 'sqlite', subject: sqliteSubject(), test },
  { name: SIZES[0], subject: postgres, test: inTurns(SIZES[0], SIZES) },
  { name: SIZES[1], subject: withUsualBatches(postgres), test: inTurns(SIZES[1], SIZES) },
])('crowd: $name', ({ subject, test }) => {
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
