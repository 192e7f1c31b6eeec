// The PostgreSQL store against the contract, on a current server: half of the cases with a batch for every
// claim, half with batches from as many jobs as in production.
import { describe, test } from 'vitest'
import { storeConformance } from '../../../conformance/src/index.ts'
import { currentPostgresSubject, withUsualBatches } from './postgres-subject.ts'
import { halfOfCases } from './some-cases.ts'

const subject = currentPostgresSubject()

describe('store conformance: postgres, a batch for every claim', () => {
  storeConformance(subject, halfOfCases(0, test))
})

describe('store conformance: postgres', () => {
  storeConformance(withUsualBatches(subject), halfOfCases(1, test))
})
