// Figures on PostgreSQL.
import { describe, inject } from 'vitest'
import { postgresSubject } from '../conformance/postgres-subject.ts'
import { figuresAreExact } from './exact.ts'

describe('figures: postgres', () => {
  figuresAreExact(postgresSubject(inject('postgresUrl')), 10)
})
