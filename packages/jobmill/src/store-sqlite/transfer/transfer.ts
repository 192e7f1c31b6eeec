/** Export and import between databases: the part of this store. */
import type { TransferredParts, Transfer, Page, Part } from '../../store/admin/transfer.ts'
import type { Look, Verb, Work } from '../work.ts'
import { identity } from './identity.ts'
import { jobsIn } from './import-jobs.ts'
import { idsOut, jobsOut } from './export-jobs.ts'
import { keysIn, keysOut } from './keys.ts'
import { restIn, restOut } from './rest.ts'
import { ticksIn, ticksOut } from './ticks.ts'

type Ways = {
  readonly [P in Part]: {
    readonly out: (look: Look, page: Page<P>) => TransferredParts[P][]
    readonly in: (work: Work, items: readonly TransferredParts[P][]) => number
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: { out: keysOut, in: keysIn },
  ticks: { out: ticksOut, in: ticksIn },
}

export function transfer(
  path: string,
  read: <T>(look: (at: Look) => T) => Promise<T>,
  write: <T>(weight: number, verb: Verb<T>) => Promise<T>,
): Transfer {
  return {
    identity: () => identity(path),
    exportIds: async (page) => read((look) => idsOut(look, page)),
    exportItems: async (part, page) => read((look) => WAYS[part].out(look, page)),
    importItems: async (part, items) => write(items.length, (work) => WAYS[part].in(work, items)),
    exportRest: async () => read(restOut),
    importRest: async (rest) => write(1, (work) => restIn(work, rest)),
  }
}
