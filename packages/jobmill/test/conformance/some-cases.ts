// Chooses the cases of the PostgreSQL suites. On the current server, half of the cases run with each of two
// batch sizes. The older server and the pooler each run 1 case of every 32. With JOBMILL_LONG=all, which the
// nightly run sets, each suite runs all cases.
import { inFull } from '../../../../test/support/suite/in-full.ts'

type Register = (name: string, run: () => Promise<void>) => unknown

/** Registers 1 case of every 32, starting with the case at this index. */
export function someCases(first: number, register: Register): Register {
  let at = 0
  return (name, run) => {
    const isMine = inFull(true, at % 32 === first)
    at += 1
    if (isMine) register(name, run)
  }
}

/** Registers half of the cases, by a hash of their names. Each case belongs to the same half in every run. */
export function halfOfCases(half: 0 | 1, register: Register): Register {
  return (name, run) => {
    if (inFull(true, hashOf(name) % 2 === half)) register(name, run)
  }
}

function hashOf(name: string): number {
  let sum = 0
  for (const character of name) sum += character.codePointAt(0) ?? 0
  return sum
}
