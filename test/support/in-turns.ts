// The conformance suite runs every case on both stores. What is built on them knows only the contract, so in `npm test` the stores take turns at the tests
// of the runtime, the applications and the dashboard: each test runs on one of them. Tests of transactions run on both, since each store has its own. With
// JOBMILL_LONG=all, as every night, every test runs on all.
import { test } from 'vitest'
import { inFull } from './in-full.ts'

type Run = () => Promise<void> | void

type Register = (name: string, run: Run, timeoutMs?: number) => void

/**
 * `runIf` and `skipIf` are for what one place alone has, and take no turn. `nightly` is for what another test of `npm test` covers in another way: it runs every
 * night, on all places.
 */
export type Turns = Register & Pick<typeof test, 'each' | 'runIf' | 'skipIf'> & { readonly nightly: Register }

/** A store by itself, or something that has the name of one. */
type Place = string | { readonly name: string }

/** `test` for the tests of one suite on one of several places: registers those whose turn it is here. Each row of `each` takes a turn. */
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

/** The items of a list that are this place's. */
export function shareOf<T>(items: readonly T[], place: string, places: readonly Place[]): T[] {
  const mine = turnsOf(place, places)
  return items.filter(() => mine())
}

function turnsOf(place: string, places: readonly Place[]): () => boolean {
  const mine = places.findIndex((one) => (typeof one === 'string' ? one : one.name) === place)
  let turn = -1
  return () => {
    turn += 1
    return inFull(true, turn % places.length === mine)
  }
}
