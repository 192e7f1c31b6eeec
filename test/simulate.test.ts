/** The simulator: several processes with the real runtime on one store, and a seed for all the trouble they get into. */
import { describe, expect, test } from 'vitest'
import type { Entry } from '../proof/history/entry.ts'
import { simulate, type Simulated } from '../proof/simulate/simulate.ts'
import { excuse } from './support/leaks/things.ts'

excuse('mill', 'abort listener')

const SEEDS = 75
const BLOCK = 25

const told = ({ seed, violations }: Simulated): string[] =>
  violations.map(({ rule, told }) => `seed ${seed}: ${rule}: ${told}`)

/** Histories that found something, for as long as they can find it again. */
const FOUND: readonly (readonly [number, string])[] = [
  [168, 'the undoing of a start that failed came late, and took the jobs of the start after it'],
]

const TROUBLES = ['kills', 'stills', 'stops', 'steps', 'cuts'] as const
const seen = new Map<Entry['what'], number>()
let handOffs = 0
const troubles: Record<string, number> = {}

/** Jobs that were leased as they were written. */
function countHandOffs(history: readonly Entry[]): number {
  return history.filter((one, at) => {
    const before = history[at - 1]
    return one.what === 'claimed' && before?.what === 'written' && before.job === one.job
  }).length
}

describe('simulated histories', () => {
  test.each(Array.from({ length: SEEDS / BLOCK }, (_, n) => 1 + n * BLOCK))(
    'P2 P3 P4 P12 P13 keep every promise: 25 seeds from %i on',
    async (first) => {
      const broken: string[] = []
      for (let seed = first; seed < first + BLOCK; seed += 1) {
        const simulated = await simulate(seed)
        broken.push(...told(simulated))
        for (const { what } of simulated.history) seen.set(what, (seen.get(what) ?? 0) + 1)
        handOffs += countHandOffs(simulated.history)
        for (const name of TROUBLES) troubles[name] = (troubles[name] ?? 0) + simulated.troubles[name]
      }
      expect(broken).toEqual([])
    },
    120_000,
  )

  test.each(FOUND)('P2 P3 seed %i: %s', async (seed) => {
    expect(told(await simulate(seed))).toEqual([])
  })

  test('are the same for the same seed, and others for others', async () => {
    const [one, again, other] = [await simulate(7), await simulate(7), await simulate(8)]
    expect(again.fingerprint).toBe(one.fingerprint)
    expect(again.history).toEqual(one.history)
    expect(other.fingerprint).not.toBe(one.fingerprint)
  }, 60_000)

  test('have in them what they are about', () => {
    const some = [
      'taken back',
      'withdrawn',
      'cancelled',
      'granted',
      'given back',
      'ticked',
      'effect',
      'ended',
    ] as const
    expect(some.filter((what) => (seen.get(what) ?? 0) < 50)).toEqual([])
    expect(handOffs).toBeGreaterThan(50)
    expect(Object.entries(troubles).filter(([, count]) => count < 50)).toEqual([])
  })
})
