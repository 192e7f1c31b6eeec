// The PostgreSQL store against the contract, on the oldest server available for this machine.
import { describe, inject, test } from 'vitest'
import { storeConformance } from '../../../conformance/src/index.ts'
import { someCases } from './some-cases.ts'
import { postgresSubject } from './postgres-subject.ts'

const url = inject('oldPostgresUrl')

describe.skipIf(url === null)('store conformance: postgres, an older server', () => {
  if (url !== null) storeConformance(postgresSubject(url), someCases(0, test))
})
