// Metrics on PostgreSQL.
import { describe } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { currentPostgresSubject } from '../conformance/postgres-subject.ts'
import { metricsAreExact } from './exact.ts'

describe('metrics: postgres', () => {
  metricsAreExact(currentPostgresSubject(), inFull(20, 1))
})
