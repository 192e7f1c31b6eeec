/** Where claims start to scan: the scan cursors alone, without a database. */
import { describe, expect, test } from 'vitest'
import {
  type ScanCursors,
  scanCursors,
  type ScanResult,
} from '../../src/store-postgres/claim/scan-cursors.ts'

const FULL = [[-32_769, 0, 32_768]]

function aScan(overrides: Partial<ScanResult> = {}): ScanResult {
  return {
    wasFull: true,
    upTo: new Map(),
    lastSeq: null,
    lanes: [],
    leases: 500,
    pages: 3,
    ms: 1,
    ...overrides,
  }
}

/** The ranges of a scan as [priority, seq, below]. */
function looked(hints: ScanCursors, now: number, kinds = '{1}'): number[][] {
  return hints.look('q', kinds, now).ranges.map(({ priority, seq, below }) => [priority, seq, below])
}

describe('postgres: scan cursors', () => {
  test('the first scan is a full one, and the next starts after the leased jobs', () => {
    const hints = scanCursors()
    expect(looked(hints, 0)).toEqual(FULL)
    hints.record('q', '{1}', 0, aScan({ upTo: new Map([[0, 40]]) }))
    // Other priorities have no cursor.
    expect(looked(hints, 1)).toEqual([
      [-32_769, 0, 0],
      [0, 40, 32_768],
    ])
  })

  test.each([
    ['after half a second', (hints: ScanCursors): number[][] => looked(hints, 500)],
    ['for other kinds', (hints: ScanCursors): number[][] => looked(hints, 1, '{1,2}')],
    [
      'after a notification',
      (hints: ScanCursors): number[][] => {
        hints.disturb(['q'])
        return looked(hints, 1)
      },
    ],
    [
      'after a notification without a queue',
      (hints: ScanCursors): number[][] => {
        hints.disturb('all')
        return looked(hints, 1)
      },
    ],
    [
      'after a scan that found few',
      (hints: ScanCursors): number[][] => {
        hints.record('q', '{1}', 1, aScan({ leases: 1, upTo: new Map([[0, 41]]) }))
        return looked(hints, 2)
      },
    ],
    [
      'after a scan that found fewer jobs than there is room for',
      (hints: ScanCursors): number[][] => {
        hints.record('q', '{1}', 1, aScan({ wasFull: false, lastSeq: 50 }))
        return looked(hints, 2)
      },
    ],
  ])('a full scan runs %s', (_, look) => {
    const hints = scanCursors()
    hints.record('q', '{1}', 0, aScan({ upTo: new Map([[0, 40]]) }))
    expect(look(hints)).toEqual(FULL)
  })

  test('a notification during a scan still counts after its end', () => {
    const hints = scanCursors()
    hints.record('q', '{1}', 0, aScan({ upTo: new Map([[0, 40]]) }))
    looked(hints, 1)
    hints.disturb(['q'])
    hints.record('q', '{1}', 2, aScan({ wasFull: false, upTo: new Map([[0, 60]]) }))
    expect(looked(hints, 3)).toEqual(FULL)
  })

  test('P15 an expensive full scan is repeated after twenty times its duration, despite notifications', () => {
    const hints = scanCursors()
    hints.record('q', '{1}', 0, aScan({ lastSeq: 90, lanes: [7], pages: 4_000, ms: 100 }))
    hints.disturb(['q'])
    const fromCursor = [
      [-32_769, 0, 0],
      [0, 90, 7],
      [7, 90, 32_768],
    ]
    expect(looked(hints, 1_999)).toEqual(fromCursor)
    expect(hints.peek('q', '{1}', 1_999).isFull).toBe(false)
    expect(hints.peek('q', '{1}', 2_000).isFull).toBe(true)
    expect(looked(hints, 2_000)).toEqual(FULL)
  })

  test.each([
    [11, 2, 1, false],
    [11, 20, 500, true],
    [11, 0.5, 1, true],
    [10, 2, 1, true],
  ])('P15 after a full scan of %i pages in %d ms for %i jobs, another one is allowed: %s', (...given) => {
    const [pages, ms, leases, isAllowed] = given
    const hints = scanCursors()
    hints.record('q', '{1}', 0, aScan({ lastSeq: 90, pages, ms, leases }))
    expect(hints.look('q', '{1}', 1).isFull).toBe(isAllowed)
  })

  test('a full scan that did not reach the end resets older cursors', () => {
    const hints = scanCursors()
    hints.record('q', '{1}', 0, aScan({ upTo: new Map([[0, 90]]) }))
    hints.record('q', '{1}', 600, aScan({ upTo: new Map([[0, 12]]) }))
    expect(looked(hints, 601)).toEqual([
      [-32_769, 0, 0],
      [0, 12, 32_768],
    ])
  })
})
