/** Carrying everything from one database to another: the part of the tools of this store. */
import type { CarriedParts, Carrying, Page, Part } from '../../store/carried.ts'
import type { Look, Verb, Work } from '../work.ts'
import { identity } from './identity.ts'
import { jobsIn } from './jobs-in.ts'
import { idsOut, jobsOut } from './jobs-out.ts'
import { keysIn, keysOut } from './keys.ts'
import { restIn, restOut } from './rest.ts'
import { ticksIn, ticksOut } from './ticks.ts'

type Ways = {
  readonly [P in Part]: {
    readonly out: (look: Look, page: Page<P>) => CarriedParts[P][]
    readonly in: (work: Work, items: readonly CarriedParts[P][]) => number
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: { out: keysOut, in: keysIn },
  ticks: { out: ticksOut, in: ticksIn },
}

export function carrying(
  path: string,
  read: <T>(look: (at: Look) => T) => Promise<T>,
  write: <T>(weight: number, verb: Verb<T>) => Promise<T>,
): Carrying {
  return {
    identity: () => identity(path),
    carryIds: async (page) => read((look) => idsOut(look, page)),
    carryOut: async (part, page) => read((look) => WAYS[part].out(look, page)),
    carryIn: async (part, items) => write(items.length, (work) => WAYS[part].in(work, items)),
    carryOutRest: async () => read(restOut),
    carryInRest: async (rest) => write(1, (work) => restIn(work, rest)),
  }
}
