/** `jobmill/testing`: the conformance suite for stores, the oracle, and helpers to test jobs. */
export type { Case } from './conformance/case.ts'
export { type Group, OPTIONAL_GROUPS, type OptionalGroup } from './conformance/groups.ts'
export type { ConformanceSubject } from './conformance/subject.ts'
export { conformanceCases, conformanceGroups, storeConformance } from './conformance/suite.ts'
export { aClaim, aJob, anInstance, aHeartbeat, aRetain, someJobs } from './factories.ts'
export { DrainError, type DrainOptions } from './kit/drain.ts'
export type { EnqueuedInside } from './kit/enqueue-nowhere.ts'
export { expectEnqueued, expectNothingEnqueued, type Part } from './kit/expect-enqueued.ts'
export { type Faults, faultyStore, type HeldCall } from './kit/faulty-store.ts'
export type { EnqueuedRecord } from './kit/mill-store.ts'
export type { RecordedDedupe, RecordedJob } from './kit/recorded-job.ts'
export { type JobRun, runJob, type RunJobOptions } from './kit/run-job.ts'
export type { Verb } from '../store/verbs.ts'
export { type TestMill, testMill, type TestMillOptions } from './kit/test-mill.ts'
export { type TestPlatform, testPlatform, type TestPlatformOptions } from './kit/test-platform.ts'
export {
  type OracleDatabase,
  type OracleTx,
  oracle,
  oracleDatabase,
  oracleTransaction,
} from './oracle/oracle.ts'
export { type TestClock, testClock } from './test-clock.ts'
