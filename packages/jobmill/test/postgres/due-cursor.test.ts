/** Where scans for due jobs start: the scan cursor alone, without a database. */
import { describe, expect, test } from 'vitest'
import { dueCursor } from '../../src/store-postgres/claim/due-cursor.ts'

describe('postgres: the scan cursor of due jobs', () => {
  test('while scans are fast, each one is a full scan', () => {
    const due = dueCursor()
    due.record({ from: null, upTo: 7_000, ms: 5, now: 0 })
    expect(due.from(1)).toBeNull()
  })

  test('P15 after a slow scan, the next ones start where it ended, until twenty times its duration has passed', () => {
    const due = dueCursor()
    due.record({ from: null, upTo: 7_000, ms: 100, now: 0 })
    expect(due.from(1)).toBe(7_000)
    due.record({ from: 7_000, upTo: 8_000, ms: 1, now: 1 })
    due.record({ from: 7_000, upTo: 7_500, ms: 1, now: 1 })
    expect(due.from(1_999)).toBe(8_000)
    expect(due.from(2_000)).toBeNull()
  })
})
