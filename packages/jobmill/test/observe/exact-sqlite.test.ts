// Figures on SQLite.
import { describe } from 'vitest'
import { inFull } from '../../../../test/support/in-full.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { metricsAreExact } from './exact.ts'

describe('figures: sqlite', () => {
<<<<<<< HEAD
  metricsAreExact(sqliteSubject(), inFull(50, 8))
=======
  figuresAreExact(sqliteSubject(), inFull(50, 5))
>>>>>>> 2e523bf (test: leave repeated kills to the night)
})
