// Random histories on the sqlite store, the postgres store and the oracle in parallel: every reply and
// everything visible must agree. JOBMILL_RUNS asks for more runs, JOBMILL_SEED replays a failed one.
// oxlint-disable vitest/expect-expect -- `check` throws when a property does not hold
import { describe, test } from 'vitest'
import type { ConformanceSubject } from '../../../conformance/src/index.ts'
import type { FullStore } from '../../src/store/store.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { currentPostgresSubject, withUsualBatches } from '../conformance/postgres-subject.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { check, timeoutMs } from './check.ts'
import { run, someSteps } from './run.ts'

const FILE = 'packages/jobmill/test/model/model.test.ts'
const RUNS = inFull(20, 1)

describe('model: sqlite and postgres', () => {
  const [sqlite, postgres] = [sqliteSubject(), currentPostgresSubject()]
  const batches: readonly (readonly [string, ConformanceSubject<FullStore>])[] = [
    ['a batch for every claim', postgres],
    ['batches as in production', withUsualBatches(postgres)],
  ]
  // In `npm test`, durable.test.ts uses the other batches.
  test.each(inFull(batches, batches.slice(0, 1)))(
    'P2 P3 P5 P8 P11 P12 P13 sqlite, postgres with %s, and the oracle agree on every history',
    (_, subject) => check(FILE, someSteps(inFull(150, 100)), RUNS, (steps) => run([sqlite, subject], steps)),
    timeoutMs(RUNS),
  )
})
