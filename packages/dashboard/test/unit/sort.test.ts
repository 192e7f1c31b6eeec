/** Sorting of tables: the order of rows, and what a click on a heading does. */
import { expect, test } from 'vitest'
import { nextOrder, orderOf, sorted } from '../../src/kit/table/sort.ts'

const n = (row: { n: number | null }): number | null => row.n

test('rows are sorted by number or text, and rows without a value come last in both directions', () => {
  const rows = [{ n: 3 }, { n: null }, { n: 1 }, { n: 20 }]
  expect(sorted(rows, n, false).map(n)).toEqual([1, 3, 20, null])
  expect(sorted(rows, n, true).map(n)).toEqual([20, 3, 1, null])
  const names = ['queue-10', 'Queue-2', 'a']
  expect(sorted(names, (name) => name, false)).toEqual(['a', 'Queue-2', 'queue-10'])
  // Equal rows keep their order in both directions.
  const equal = [{ id: 'a' }, { id: 'b' }]
  expect(sorted(equal, () => 1, true)).toEqual(equal)
})

test('a click sorts by the useful direction, then the other one, then not at all', () => {
  const down = nextOrder(null, 'ready', true)
  expect(down).toEqual({ column: 'ready', isDescending: true })
  expect(nextOrder(down, 'ready', true)).toEqual({ column: 'ready', isDescending: false })
  expect(nextOrder({ column: 'ready', isDescending: false }, 'ready', true)).toBeNull()
  expect(nextOrder(down, 'name', false)).toEqual({ column: 'name', isDescending: false })
})

test('the order is read from the address, and unknown columns are ignored', () => {
  const columns = new Set(['name', 'ready'])
  expect(orderOf('-ready', columns)).toEqual({ column: 'ready', isDescending: true })
  expect(orderOf('name', columns)).toEqual({ column: 'name', isDescending: false })
  expect([orderOf('-x', columns), orderOf(null, columns), orderOf('', columns)]).toEqual([null, null, null])
})
