/** `jobmill/testing`: the proof kit. The suite for stores, the oracle, and what tests of jobs need. */
export type { Case } from './conformance/case.ts'
export type { ConformanceSubject } from './conformance/subject.ts'
export { conformanceCases, storeConformance } from './conformance/suite.ts'
export { aClaim, aJob, anInstance, aPulse, someJobs } from './factories.ts'
export {
  type OracleDatabase,
  type OracleTx,
  oracle,
  oracleDatabase,
  oracleTransaction,
} from './oracle/oracle.ts'
export { type TestClock, testClock } from './test-clock.ts'
