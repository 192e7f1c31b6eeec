// The oracle is the contract in executable form, so it must pass the suite that tests the contract.
import { describe, test } from 'vitest'
import { storeConformance } from '../src/suite/suite.ts'
import { oracle, oracleDatabase, oracleTransaction } from '../src/oracle/oracle.ts'
import { testClock } from '../../jobmill/src/testing/test-clock.ts'

let database = oracleDatabase()

describe('store conformance: oracle', () => {
  storeConformance(
    {
      name: 'oracle',
      fresh: async () => void (database = oracleDatabase()),
      handle: ({ clock = testClock().now }) => oracle(database, { clock }),
      transaction: (work, end) => oracleTransaction(database, work, end),
    },
    test,
  )
})
