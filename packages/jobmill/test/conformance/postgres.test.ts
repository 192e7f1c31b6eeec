// The PostgreSQL store against the contract, on a current server.
import { describe, inject, test } from 'vitest'
import { storeConformance } from '../../src/testing/index.ts'
import { postgresSubject } from './postgres-subject.ts'

describe('store conformance: postgres', () => {
  storeConformance(postgresSubject(inject('preparedPostgresUrl')), test)
})
