// The PostgreSQL store against the contract, on a current server.
import { describe, test } from 'vitest'
import { storeConformance } from '../../src/testing/index.ts'
import { currentPostgresSubject } from './postgres-subject.ts'

describe('store conformance: postgres', () => {
  storeConformance(currentPostgresSubject(), test)
})
