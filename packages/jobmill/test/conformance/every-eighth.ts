// The older server and the pooler take every eighth case each, since all of them pass on the current server too.
// JOBMILL_CONFORMANCE=all, as every night, gives all to both.

type Register = (name: string, run: () => Promise<void>) => unknown

/** Registers every eighth one, beginning with this one. */
export function everyEighth(first: number, register: Register): Register {
  const isAll = process.env['JOBMILL_CONFORMANCE'] === 'all'
  let at = 0
  return (name, run) => {
    const isMine = isAll || at % 8 === first
    at += 1
    if (isMine) register(name, run)
  }
}
