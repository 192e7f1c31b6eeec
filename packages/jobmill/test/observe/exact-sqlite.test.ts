// Metrics on SQLite.
import { describe } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { metricsAreExact } from './exact.ts'

describe('metrics: sqlite', () => {
  metricsAreExact(sqliteSubject(), inFull(50, 3))
})
