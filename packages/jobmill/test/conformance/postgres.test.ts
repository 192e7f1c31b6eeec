// The PostgreSQL store against the contract, on a current server.
import { describe, test } from 'vitest'
import { storeConformance } from '../../../conformance/src/index.ts'
import { currentPostgresSubject } from './postgres-subject.ts'

describe('store conformance: postgres', () => {
  storeConformance(currentPostgresSubject(), test)
})
