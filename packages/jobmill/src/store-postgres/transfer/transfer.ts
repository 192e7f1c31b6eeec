/** The transfer tools of this store: export and import of a whole database. */
import type { TransferredParts, Transfer, Page, Part } from '../../store/admin/transfer.ts'
import type { Context } from '../context.ts'
import { identity } from './identity.ts'
import { jobsIn } from './import-jobs.ts'
import { idsOut, jobsOut } from './export-jobs.ts'
import { keysIn, keysOut } from './keys.ts'
import { restIn, restOut } from './rest.ts'
import { ticksIn, ticksOut } from './ticks.ts'

type Ways = {
  readonly [P in Part]: {
    readonly out: (context: Context, page: Page<P>) => Promise<TransferredParts[P][]>
    readonly in: (context: Context, items: readonly TransferredParts[P][]) => Promise<number>
  }
}

const WAYS: Ways = {
  jobs: { out: jobsOut, in: jobsIn },
  keys: { out: keysOut, in: keysIn },
  ticks: { out: ticksOut, in: ticksIn },
}

export function transfer(run: <T>(verb: (context: Context) => Promise<T>) => Promise<T>): Transfer {
  return {
    identity: () => run(identity),
    exportIds: (page) => run((context) => idsOut(context, page)),
    exportItems: (part, page) => run((context) => WAYS[part].out(context, page)),
    importItems: (part, items) => run((context) => WAYS[part].in(context, items)),
    exportRest: () => run(restOut),
    importRest: (rest) => run((context) => restIn(context, rest)),
  }
}
