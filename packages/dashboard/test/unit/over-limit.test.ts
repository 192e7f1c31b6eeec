// The text for a queue that runs more jobs than its number of workers.
import { describe, expect, test } from 'vitest'
import type { Instance } from '../../src/api/types.ts'
import { overLimitText } from '../../src/pages/queues/over-limit/over-limit-text.ts'
import type { Server } from '../../src/pages/queues/serving.ts'

const NOW = 1_000_000

const server = (id: string, workers: number | null): Server => ({ instance: { id } as Instance, workers })
const jobs = (instance: string, count: number, ageMs = 60_000) =>
  Array.from({ length: count }, () => ({ instance, startedAt: NOW - ageMs }))

describe('a queue that runs more jobs than its number of workers', () => {
  test('says that a process that lost its lease still runs some', () => {
    const running = [...jobs('a', 1), ...jobs('b', 2)]
    const servers = [server('a', 0), server('b', 2)]
    expect(overLimitText({ running, servers, workers: 2, now: NOW })).toBe(
      '3 running, limit 2: a process that lost its lease or part of its share still runs 1',
    )
  })

  test('says that a quiet process, which does not claim, still runs some', () => {
    const running = [...jobs('quiet', 3), ...jobs('b', 2)]
    const servers = [server('b', 2)]
    expect(overLimitText({ running, servers, workers: 2, now: NOW })).toBe(
      '5 running, limit 2: a quiet or stopping process still runs 3',
    )
  })

  test('says nothing within the limit, or about jobs that may be prefetched', () => {
    const servers = [server('a', 2)]
    expect(overLimitText({ running: jobs('a', 2), servers, workers: 2, now: NOW })).toBeNull()
    const prefetched = [...jobs('a', 2), ...jobs('a', 5, 100)]
    expect(overLimitText({ running: prefetched, servers, workers: 2, now: NOW })).toBeNull()
  })
})
