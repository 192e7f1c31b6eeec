// Metrics on the oracle, which is fast enough for many histories.
import { describe } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { oracle, oracleDatabase } from '../../../conformance/src/index.ts'
import { metricsAreExact } from './exact.ts'

let database = oracleDatabase()

describe('metrics: oracle', () => {
  metricsAreExact(
    {
      name: 'oracle',
      fresh: async () => void (database = oracleDatabase()),
      handle: ({ clock = () => 0 }) => oracle(database, { clock }),
    },
    inFull(120, 10),
  )
})
