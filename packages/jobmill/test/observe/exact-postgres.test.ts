// Figures on PostgreSQL.
import { describe, inject } from 'vitest'
import { inFull } from '../../../../test/support/in-full.ts'
import { postgresSubject } from '../conformance/postgres-subject.ts'
import { figuresAreExact } from './exact.ts'

describe('figures: postgres', () => {
  figuresAreExact(postgresSubject(inject('postgresUrl')), inFull(20, 2))
})
