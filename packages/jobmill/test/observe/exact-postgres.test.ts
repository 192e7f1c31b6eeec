// Metrics on PostgreSQL.
import { describe, inject } from 'vitest'
import { inFull } from '../../../../test/support/in-full.ts'
import { postgresSubject } from '../conformance/postgres-subject.ts'
import { metricsAreExact } from './exact.ts'

describe('metrics: postgres', () => {
  metricsAreExact(postgresSubject(inject('preparedPostgresUrl')), inFull(20, 2))
})
