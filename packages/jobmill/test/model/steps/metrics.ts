// Processes record metrics and events, some flushes twice, and one rolls them up.
import * as fc from 'fast-check'
import { RESOLUTIONS } from '../../../src/store/types/metrics.ts'
import { ask, mintId, pick, type World } from '../world.ts'
import { anyOne, QUEUES, stepOf, type Weighted } from './names.ts'

const count = fc.integer({ min: 1, max: 9 })
const agoMs = fc.constantFrom(0, 0, 10, 9_990, 70_000)

const anyData = fc.record(
  {
    counters: fc.dictionary(fc.constantFrom('done', 'dead'), count),
    histograms: fc.dictionary(fc.constant('runMs'), fc.dictionary(fc.constantFrom('0', '10', '200'), count)),
    gauges: fc.dictionary(fc.constant('busy'), fc.record({ sum: count, count, most: count })),
  },
  { requiredKeys: [] },
)
// fast-check makes objects without a prototype.
const data = anyData.map((input) => structuredClone(input))

const recording = fc.record({
  source: anyOne,
  /** Mostly the next one; or one that was sent before. */
  seq: fc.constantFrom('next' as const, 'next' as const, 'next' as const, 'again' as const, 'old' as const),
  deltas: fc.array(
    fc.record({ scope: fc.constantFrom(...QUEUES.map((queue) => `queue ${queue}`)), agoMs, data }),
    { maxLength: 3 },
  ),
  own: fc.option(fc.record({ resolution: fc.constantFrom(...RESOLUTIONS), agoMs, data }), { nil: undefined }),
  events: fc.array(
    fc.record({
      type: fc.constantFrom('one', 'two'),
      agoMs,
      queue: fc.constantFrom(null, ...QUEUES),
      job: fc.constant(null),
      data: fc.constantFrom('{}', '{"a": 1}'),
    }),
    // An empty recording may or may not be remembered.
    { minLength: 1, maxLength: 2 },
  ),
})

function sourceOf(world: World, by: number): string {
  while (world.sources.size < 2) world.sources.set(mintId(world), 0)
  return pick([...world.sources.keys()], by) ?? ''
}

export const metricSteps: readonly Weighted[] = [
  stepOf(3, 'record', recording, async (world, { source: by, seq, own, ...rest }) => {
    const source = sourceOf(world, by)
    const last = world.sources.get(source) ?? 0
    const number = last + { next: 1, again: 0, old: -1 }[seq]
    world.sources.set(source, Math.max(last, number))
    await ask(
      world,
      'record',
      ({ store }) =>
        store.metrics.record({
          source,
          seq: Math.max(0, number),
          ...rest,
          own: own === undefined ? [] : [{ ...own, scope: `instance ${source}` }],
        }),
      () => 'recorded',
    )
  }),
  // All of it, because the portions are internal to a store; reads are the same before and after.
  stepOf(1, 'roll up', fc.constant(10_000), async (world, limit) => {
    await ask(
      world,
      'roll up',
      ({ store }) => store.metrics.rollUp(limit),
      (merged) => merged > 0,
    )
  }),
]
