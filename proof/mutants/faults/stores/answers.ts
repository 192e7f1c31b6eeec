/** Faults in the handling of unexpected database errors. */
import type { TestedMutant } from '../../mutant.ts'

const SQLSTATES = 'packages/jobmill/test/unit/sqlstates.test.ts'

export const ANSWERS: readonly TestedMutant[] = [
  {
    name: 'postgres: an unlisted error code counts as a data error',
    file: 'store-postgres/connection/sqlstates.ts',
    find: "return ROLLED_BACK_CLASSES.has(code.slice(0, 2)) ? 'rolled-back' : 'unknown'",
    replace: "return 'data'",
    test: { file: SQLSTATES, name: 'every SQLSTATE maps to one of our errors' },
  },
  {
    name: 'postgres: wraparound protection counts as a data error',
    file: 'store-postgres/connection/sqlstates.ts',
    find: "if (code === '54000') return !SERVER_LIMITS.has(origin.routine ?? '')",
    replace: '',
    test: { file: SQLSTATES, name: 'a server limit' },
  },
  {
    name: 'postgres: a taken key of our tables counts as a data error',
    file: 'store-postgres/connection/sqlstates.ts',
    find: 'return !isOwnKeyTaken(code, origin)',
    replace: 'return true',
    test: { file: SQLSTATES, name: 'a server limit' },
  },
  {
    name: 'postgres: a session that the server terminated counts as rolled back',
    file: 'store-postgres/connection/sqlstates.ts',
    find: "if (severity !== 'ERROR' || UNKNOWN_CODES.has(code)) return 'unknown'",
    replace: '',
    test: { file: SQLSTATES, name: 'the outcome is unknown if the error ends the session' },
  },
  {
    name: 'postgres: a connection in an unknown state is reused',
    file: 'store-postgres/connection/errors.ts',
    find: "return verdictOf(code, error.severity, error) !== 'unknown' && !endsConnection(code)",
    replace: 'return code.length > 0',
    test: { file: SQLSTATES, name: 'a connection is reused only after an error' },
  },
  {
    name: 'sqlite: an unlisted error code is thrown as a driver error',
    file: 'store-sqlite/connection/errors.ts',
    find: "if (code === '') return undefined",
    replace: 'if (!Object.hasOwn(MEANING, code)) return undefined',
    test: { file: SQLSTATES, name: 'every code maps to one of our errors' },
  },
]
