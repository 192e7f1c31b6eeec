// Random histories of jobs with durable steps on the sqlite store, the postgres store and the oracle in
// parallel. After every command they must agree on steps, waits, events and children, and each must keep P17
// and P18. JOBMILL_RUNS asks for more runs, JOBMILL_SEED replays a failed one.
// oxlint-disable vitest/expect-expect -- `check` throws when a property does not hold
import { describe, test } from 'vitest'
import type { ConformanceSubject } from '../../../conformance/src/index.ts'
import type { FullStore } from '../../src/store/store.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { currentPostgresSubject, withUsualBatches } from '../conformance/postgres-subject.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { check, timeoutMs } from './check.ts'
import { run, someDurableSteps } from './run.ts'

const FILE = 'packages/jobmill/test/model/durable.test.ts'
const RUNS = inFull(20, 1)

describe('model of durable steps: sqlite and postgres', () => {
  const [sqlite, postgres] = [sqliteSubject(), currentPostgresSubject()]
  const batches: readonly (readonly [string, ConformanceSubject<FullStore>])[] = [
    ['a batch for every claim', postgres],
    ['batches as in production', withUsualBatches(postgres)],
  ]
  // In `npm test`, model.test.ts uses the other batches.
  test.each(inFull(batches, batches.slice(1)))(
    'P17 P18 sqlite, postgres with %s, and the oracle agree on every history of jobs with steps',
    (_, subject) =>
      check(FILE, someDurableSteps(inFull(120, 80)), RUNS, (steps) => run([sqlite, subject], steps)),
    // Everything is compared after every command.
    2 * timeoutMs(RUNS),
  )
})
