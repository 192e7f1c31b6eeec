// Figures on PostgreSQL.
import { describe, inject } from 'vitest'
import { inFull } from '../../../../test/support/in-full.ts'
import { postgresSubject } from '../conformance/postgres-subject.ts'
import { figuresAreExact } from './exact.ts'

describe('figures: postgres', () => {
  figuresAreExact(postgresSubject(inject('preparedPostgresUrl')), inFull(20, 2))
})
