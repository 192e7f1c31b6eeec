// Starts the longest test files first, so that no core is idle at the end. They are listed by name, because a
// fresh clone has no timings of an earlier run.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  // Mix files that wait with files that need a core.
  'telegram/test/outbox.test.ts',
  'test/proof/simulate.test.ts',
  'telegram/test/lost-process.test.ts',
  'conformance/postgres.test.ts',
  'test/proof/cluster.test.ts',
  'uploads/test/crash.test.ts',
  'processes/mill-processes.test.ts',
  'dashboard/test/frame.test.ts',
  'test/docs/examples.test.ts',
  'dashboard/test/jobs.test.ts',
  'uploads/test/client/crash.test.ts',
  'dashboard/test/job.test.ts',
  'telegram/test/auth.test.ts',
  'telegram/test/telegram.test.ts',
  'telegram/test/crash.test.ts',
  'dashboard/test/overview.test.ts',
  'upgrades/side-by-side.test.ts',
  'postgres/plans.test.ts',
  'postgres/plans-cluster.test.ts',
  'dashboard/test/queues.test.ts',
  'limits/rate.test.ts',
  'dashboard/test/schedules.test.ts',
  'telegram/test/together.test.ts',
  'cli/move.test.ts',
  'processes/processes.test.ts',
  'telegram/test/handlers.test.ts',
  'uploads/test/client/folder.test.ts',
  'uploads/test/client/rules.test.ts',
  'dashboard/test/uploads.test.ts',
  'dashboard/test/system.test.ts',
  'cli/start.test.ts',
  'test/proof/power-cut.test.ts',
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
