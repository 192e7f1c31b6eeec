// Random histories on the sqlite store, the postgres store and the oracle in parallel: every reply and
// everything visible must agree. JOBMILL_RUNS asks for more runs, JOBMILL_SEED replays a failed one.
// oxlint-disable vitest/expect-expect -- `check` throws when a property does not hold
import { describe, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { currentPostgresSubject } from '../conformance/postgres-subject.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { check, timeoutMs } from './check.ts'
import { run, someSteps } from './run.ts'

const FILE = 'packages/jobmill/test/model/model.test.ts'
const RUNS = inFull(20, 2)

describe('model: sqlite and postgres', () => {
  const subjects = [sqliteSubject(), currentPostgresSubject()]
  test(
    'P2 P3 P5 P8 P11 P12 P13 sqlite, postgres and the oracle agree on every history',
    () => check(FILE, someSteps(inFull(150, 100)), RUNS, (steps) => run(subjects, steps)),
    timeoutMs(RUNS),
  )
})
