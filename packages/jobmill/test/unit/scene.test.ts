/** What the diagnostics read about failing kinds, from a mill that only records the calls. */
import { expect, test } from 'vitest'
import { type DiagnosedMill, sceneOf } from '../../src/runtime/diagnose/scene.ts'
import { fakePlatform } from './support.ts'

const none = () => Promise.resolve([])
const failing = (kind: string) => ({
  kind,
  all: { ended: { done: 0, retried: 0, dead: 12, timedOut: 0 } },
  points: [],
})

test('the errors of failing kinds are searched in few rows, together and then each kind that is missing', async () => {
  const asked: [kind: unknown, page: unknown][] = []
  const mill = {
    instances: () => Promise.resolve([{ id: 'i', state: 'alive', kinds: ['a', 'b'], queues: [] }]),
    unservedKinds: none,
    queues: none,
    duties: none,
    drift: none,
    versions: none,
    metrics: () => Promise.resolve({ queues: [], kinds: [failing('a'), failing('b')], from: 0 }),
    list({ kind }: { kind: readonly string[] }, page: unknown) {
      asked.push([kind, page])
      const jobs = kind.includes('a') ? [{ kind: 'a', error: 'Error: a broke' }] : []
      return Promise.resolve({ jobs, next: 'more', scanned: 5_000, complete: false })
    },
  } as unknown as DiagnosedMill
  const options = { retain: { everyMs: 1 }, duties: [], platform: fakePlatform() } as never
  const { failing: found } = await sceneOf(mill, options, true)
  expect(found.map(({ kind, explanation }) => [kind, explanation?.error])).toEqual([
    ['a', 'Error: a broke'],
    ['b', null],
  ])
  expect(asked).toEqual([
    [['a', 'b'], { limit: 100, mostScanned: 5_000 }],
    [['b'], { limit: 20, mostScanned: 5_000 }],
  ])
})
