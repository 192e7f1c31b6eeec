// The files that take longest begin first, so that no core waits for one of them at the end. Known by name: a fresh clone has no
// times of an earlier run to go by.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  'test/simulate.test.ts',
  'processes/mill-processes.test.ts',
  'test/cluster.test.ts',
  'conformance/postgres.test.ts',
  'test/examples.test.ts',
  'model/model.test.ts',
  'cluster/million.test.ts',
  'conformance/sqlite.test.ts',
  'limits/rate.test.ts',
  'runtime/outcomes.test.ts',
  'processes/processes.test.ts',
  'postgres/plans-cluster.test.ts',
  'postgres/plans.test.ts',
  'cli/db.test.ts',
  'conformance/postgres-pgbouncer.test.ts',
  'conformance/postgres-old.test.ts',
]

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(name))
  return at === -1 ? LONGEST.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of an array: how vitest would order them
    const usual = await super.sort(files)
    return usual.toSorted((a, b) => rank(a) - rank(b))
  }
}
