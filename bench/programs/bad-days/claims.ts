/** Notes what each claim reports about its own cost: the driver passes all queries of the store. */
import { createRequire } from 'node:module'
import type pgDriver from 'pg'

/** The driver that the store loads. bench/ has another copy for the peers. */
export const pg = createRequire(import.meta.resolve('jobmill'))('pg') as typeof pgDriver

/** The pages of the claim index that each claim read, and the time it took, as the function claim reports. */
export const claims: { readonly pages: number; readonly ms: number }[] = []
// oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
const original = pg.Client.prototype.query
type Answered = (error: unknown, answer?: { readonly rows: readonly (readonly unknown[])[] }) => void
pg.Client.prototype.query = function noted(this: pgDriver.Client, ...args: unknown[]): unknown {
  const [config, answered] = args as [{ readonly text?: string }, Answered]
  if (config.text === undefined || !/^SELECT \* FROM \S+\.claim\(/.test(config.text))
    return Reflect.apply(original, this, args)
  const note: Answered = (error, answer) => {
    const told = answer?.rows.at(-1)?.[11]
    if (typeof told === 'string') claims.push(JSON.parse(told) as (typeof claims)[number])
    answered(error, answer)
  }
  return Reflect.apply(original, this, [config, note])
} as typeof original
