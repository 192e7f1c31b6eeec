/** Carrying everything from one database to another: the part of the tools of this store. */
import type { CarriedParts, Carrying, Page, Part } from '../../store/carried.ts'
import type { Context } from '../context.ts'
import { identity } from './identity.ts'
import { jobsIn } from './jobs-in.ts'
import { idsOut, jobsOut } from './jobs-out.ts'
import { keysIn, keysOut } from './keys.ts'
import { restIn, restOut } from './rest.ts'
import { ticksIn, ticksOut } from './ticks.ts'

type Ways = {
  readonly [P in Part]: {
    readonly out: (context: Context, page: Page<P>) => Promise<CarriedParts[P][]>
    readonly in: (context: Context, items: readonly CarriedParts[P][]) => Promise<number>
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: { out: keysOut, in: keysIn },
  ticks: { out: ticksOut, in: ticksIn },
}

export function carrying(run: <T>(verb: (context: Context) => Promise<T>) => Promise<T>): Carrying {
  return {
    identity: () => run(identity),
    carryIds: (page) => run((context) => idsOut(context, page)),
    carryOut: (part, page) => run((context) => WAYS[part].out(context, page)),
    carryIn: (part, items) => run((context) => WAYS[part].in(context, items)),
    carryOutRest: () => run(restOut),
    carryInRest: (rest) => run((context) => restIn(context, rest)),
  }
}
