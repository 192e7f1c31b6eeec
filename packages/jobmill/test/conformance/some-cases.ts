// The older server and the pooler take every thirty-second case each, since all of them pass on the current server too. With JOBMILL_LONG=all, as every night,
// both take all.
import { inFull } from '../../../../test/support/in-full.ts'

type Register = (name: string, run: () => Promise<void>) => unknown

/** Registers every thirty-second one, beginning with this one. */
export function someCases(first: number, register: Register): Register {
  let at = 0
  return (name, run) => {
    const isMine = inFull(true, at % 32 === first)
    at += 1
    if (isMine) register(name, run)
  }
}
