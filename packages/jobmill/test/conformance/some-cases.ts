// The older server and the pooler each run 1 case of every 32, because all cases run on the current server
// too. With JOBMILL_LONG=all, which the nightly run sets, both run all cases.
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
