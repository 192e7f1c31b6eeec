// Lets the stores take turns at tests. The conformance suite runs every case on both stores. Code above the
// contract is the same on both, so in `npm test` each test of the runtime, the applications and the dashboard
// runs on one of them. Tests of transactions run on both. JOBMILL_LONG=all, as every night, runs every test
// on all stores.
import { test } from 'vitest'
import { inFull } from './in-full.ts'

type Run = () => Promise<void> | void

type Register = (name: string, run: Run, timeoutMs?: number) => void

/**
 * `runIf` and `skipIf` are for tests of one store only, and take no turn. `nightly` is for tests whose
 * subject another test of `npm test` covers: they run every night, on all stores.
 */
export type Turns = Register & Pick<typeof test, 'each' | 'runIf' | 'skipIf'> & { readonly nightly: Register }

/** The name of a store, or an object with that name. */
type Place = string | { readonly name: string }

/**
 * A `test` function for a suite that runs on several stores: registers only the tests whose turn it is on
 * this one. Each row of `each` takes a turn.
 */
export function inTurns(place: string, places: readonly Place[]): Turns {
  const mine = turnsOf(place, places)
  const register = (name: string, run: Run, timeoutMs?: number): void => {
    if (mine()) test(name, run, timeoutMs)
  }
  const each = (rows: readonly unknown[]) => {
    const here = rows.filter(() => mine())
    return (name: string, run: () => Promise<void> | void): void => {
      if (here.length > 0) test.each(here)(name, run)
    }
  }
  return Object.assign(register, {
    each: each as unknown as typeof test.each,
    runIf: (isMine: unknown) => test.runIf(isMine),
    skipIf: (isNotMine: unknown) => test.skipIf(isNotMine),
    nightly: (name: string, run: Run, timeoutMs?: number) => {
      if (inFull(true, false)) test(name, run, timeoutMs)
    },
  })
}

function turnsOf(place: string, places: readonly Place[]): () => boolean {
  const mine = places.findIndex((one) => (typeof one === 'string' ? one : one.name) === place)
  let turn = -1
  return () => {
    turn += 1
    return inFull(true, turn % places.length === mine)
  }
}
