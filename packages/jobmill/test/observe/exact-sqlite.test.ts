// Figures on SQLite.
import { describe } from 'vitest'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { figuresAreExact } from './exact.ts'

describe('figures: sqlite', () => {
  figuresAreExact(sqliteSubject(), 25)
})
