/** The simulator: several processes with the real runtime on one store, and a seed for all the trouble they get into. */
import { describe, expect, test } from 'vitest'
import type { Entry } from '../proof/history/entry.ts'
import { simulate, type Simulated } from '../proof/simulate/simulate.ts'

const SEEDS = 200
const BLOCK = 25

const told = ({ seed, violations }: Simulated): string[] =>
  violations.map(({ rule, told }) => `seed ${seed}: ${rule}: ${told}`)

const TROUBLES = ['kills', 'stills', 'stops', 'steps', 'cuts'] as const
const seen = new Map<Entry['what'], number>()
const troubles: Record<string, number> = {}

describe('simulated histories', () => {
  test.each(Array.from({ length: SEEDS / BLOCK }, (_, n) => 1 + n * BLOCK))(
    'P2 P3 P4 P12 P13 keep every promise: 25 seeds from %i on',
    async (first) => {
      const broken: string[] = []
      for (let seed = first; seed < first + BLOCK; seed += 1) {
        const simulated = await simulate(seed)
        broken.push(...told(simulated))
        for (const { what } of simulated.history) seen.set(what, (seen.get(what) ?? 0) + 1)
        for (const name of TROUBLES) troubles[name] = (troubles[name] ?? 0) + simulated.troubles[name]
      }
      expect(broken).toEqual([])
    },
    120_000,
  )

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
    ] as const
    expect(some.filter((what) => (seen.get(what) ?? 0) < 50)).toEqual([])
    expect(Object.entries(troubles).filter(([, count]) => count < 50)).toEqual([])
  })
})
