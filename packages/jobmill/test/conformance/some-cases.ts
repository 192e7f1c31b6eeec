// The older server and the pooler run every thirty-second case each, since all pass on the current server
// too. With JOBMILL_LONG=all, as every night, both run all.
import { inFull } from '../../../../test/support/in-full.ts'

type Register = (name: string, run: () => Promise<void>) => unknown

/** Registers every thirty-second case, starting with this one. */
export function someCases(first: number, register: Register): Register {
  let at = 0
  return (name, run) => {
    const isMine = inFull(true, at % 32 === first)
    at += 1
    if (isMine) register(name, run)
  }
}
