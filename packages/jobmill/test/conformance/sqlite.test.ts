// The SQLite store against the contract.
import { describe, test } from 'vitest'
import { storeConformance } from '../../../conformance/src/index.ts'
import { sqliteSubject } from './sqlite-subject.ts'

describe('store conformance: sqlite', () => {
  storeConformance(sqliteSubject(), test)
})
