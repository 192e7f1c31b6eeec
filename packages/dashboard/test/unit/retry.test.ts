/** Failed reads: which are repeated before the error is shown. */
import { expect, test, vi } from 'vitest'
import { Problem } from '../../src/api/client.ts'
import { pace } from '../../src/api/live/live.ts'
import { shouldRetry } from '../../src/api/live/retry.ts'

vi.hoisted(() => {
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} })
})

const unreachable = new Problem(0, { code: 'UNREACHABLE' })

test('D low a request that did not reach the server is retried if the live refresh does not repeat it', () => {
  pace.set(2)
  expect(shouldRetry(0, unreachable)).toBe(false)
  pace.set(0)
  expect([0, 1, 2].map((times) => shouldRetry(times, unreachable))).toEqual([true, true, false])
})

test('server errors are retried twice, and refusals never', () => {
  const errors = [new Problem(503, {}), new Problem(500, {}), new TypeError('x'), new Problem(404, {})]
  expect(errors.map((error) => shouldRetry(1, error))).toEqual([true, true, true, false])
  expect(errors.map((error) => shouldRetry(2, error))).toEqual([false, false, false, false])
})
