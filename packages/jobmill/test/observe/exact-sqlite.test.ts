// Figures on SQLite.
import { describe } from 'vitest'
import { inFull } from '../../../../test/support/in-full.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { figuresAreExact } from './exact.ts'

describe('figures: sqlite', () => {
  figuresAreExact(sqliteSubject(), inFull(50, 8))
})
