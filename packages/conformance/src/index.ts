/** `jobmill-conformance`: the conformance suite for stores, the oracle, and valid values for tests. */
export type { Case } from './suite/case.ts'
export { type Group, OPTIONAL_GROUPS, type OptionalGroup } from './suite/groups.ts'
export type { ConformanceSubject } from './suite/subject.ts'
export { conformanceCases, conformanceGroups, storeConformance } from './suite/suite.ts'
export { withCheckedArguments } from './checked-arguments.ts'
export { aClaim, aJob, anInstance, aHeartbeat, aRetain, someJobs } from './factories.ts'
export {
  type OracleDatabase,
  type OracleTx,
  oracle,
  oracleDatabase,
  oracleTransaction,
} from './oracle/oracle.ts'
