// The older server and the pooler share the suite: each takes every second case, since all of them pass on the current server
// too. JOBMILL_CONFORMANCE=all, as every night, gives all to both.

type Register = (name: string, run: () => Promise<void>) => unknown

/** Registers every second one, beginning with the first or the one after it. */
export function everySecond(first: 0 | 1, register: Register): Register {
  const isAll = process.env['JOBMILL_CONFORMANCE'] === 'all'
  let at = 0
  return (name, run) => {
    const isMine = isAll || at % 2 === first
    at += 1
    if (isMine) register(name, run)
  }
}
