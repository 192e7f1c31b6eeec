/** The two databases of a move. */
import { JobmillError } from '../../job/errors.ts'
import type { Store, ToolStore } from '../../store/store.ts'
import type { SchemaStatus } from '../../store/admin.ts'
import { isThere, storeAt } from '../choose-store.ts'
import type { Given } from '../command.ts'
import { optionsFor } from '../with-mill.ts'

export interface Places {
  readonly source: ToolStore<never>
  readonly target: ToolStore<never>
}

/** Not opened yet, and nothing was made. */
export async function placesOf(given: Given): Promise<Places> {
  const to = given.text('to')
  if (to === undefined) {
    throw new JobmillError('OPTION_INVALID', 'is missing', {
      field: '--to',
      fix: 'Name the database to move to: --to postgres://user@host/database',
    })
  }
  const source = await sourceOf(given)
  const target = await storeAt(to)
  if (source.name === target.name) throw sameDatabase()
  if (given.has('verify-only') && !/^[a-z]+:\/\//i.test(to))
    await checkFile(to.replace(/^sqlite:/, ''), '--to')
  return { source, target }
}

/** Of two that are open: a link, a path written otherwise, or another address of one server would pass for another database. */
export async function checkTwo({ source, target }: Places): Promise<void> {
  const [from, to] = await Promise.all([source.tools.identity(), target.tools.identity()])
  if (from === to) throw sameDatabase()
}

function sameDatabase(): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'is the same database as --from', {
    field: '--to',
    fix: 'Name another one',
  })
}

/** The one that is named, else the one that every other command would use. */
async function sourceOf(given: Given): Promise<ToolStore<never>> {
  const from = given.text('from')
  if (from === undefined) return withTools((await optionsFor(given)).store)
  if (given.text('db') !== undefined) {
    throw new JobmillError('OPTION_CONFLICT', 'both name the database to move from', {
      field: '--from and --db',
      fix: 'Leave one of them out',
    })
  }
  if (!/^[a-z]+:\/\//i.test(from)) await checkFile(from.replace(/^sqlite:/, ''), '--from')
  return storeAt(from)
}

/** Opening would make an empty one. */
async function checkFile(path: string, field: '--from' | '--to'): Promise<void> {
  if (await isThere(path)) return
  throw new JobmillError('OPTION_INVALID', `there is no file ${path}`, {
    field,
    fix: `Name a database that is there: ${field} sqlite:jobs.db`,
  })
}

function withTools(store: Store<never>): ToolStore<never> {
  if ('tools' in store) return store as ToolStore<never>
  throw new JobmillError('OPTION_INVALID', `the store ${store.name} cannot be moved`, {
    field: '--from',
    fix: 'Name a database of SQLite or PostgreSQL',
  })
}

/** To open it would migrate it, and then the release that has worked on it until now could not go back to it. */
export function checkSchema(name: string, { pending }: SchemaStatus): void {
  if (pending.length === 0) return
  throw new JobmillError('TRANSFER_REFUSED', `${name} has the schema of an earlier release`, {
    fix: 'Migrate it with jobmill db migrate',
  })
}

/** A look makes nothing and changes nothing, and there is nothing to compare where nothing is. */
export function checkTarget(
  name: string,
  { isThere, pending, refused }: SchemaStatus,
  isLook: boolean,
): void {
  if (refused !== null)
    throw new JobmillError('TRANSFER_REFUSED', `${name} cannot be used: ${refused}`, {
      fix: 'Name another database with --to',
    })
  if (!isLook || (isThere && pending.length === 0)) return
  throw new JobmillError(
    'TRANSFER_REFUSED',
    isThere ? `${name} has the schema of an earlier release` : `${name} has nothing to compare with`,
    { fix: isThere ? 'Migrate it with jobmill db migrate' : 'Leave --verify-only out to move to it' },
  )
}
