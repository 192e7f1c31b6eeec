/** The source and the target of a transfer. */
import { JobmillError } from '../../job/errors.ts'
import type { Store, ToolStore } from '../../store/store.ts'
import type { OtherTable } from '../../store/admin/transfer.ts'
import type { SchemaStatus } from '../../store/admin/admin.ts'
import { isThere, storeAt } from '../config/choose-store.ts'
import type { ParsedArguments } from '../program/command.ts'
import { optionsFor } from '../with-mill.ts'
import { conflict, invalid } from '../program/invalid.ts'

export interface Places {
  readonly source: ToolStore<never>
  readonly target: ToolStore<never>
}

/** Neither store is opened, and nothing is created. */
export async function placesOf(parsed: ParsedArguments): Promise<Places> {
  const to = parsed.text('to')
  if (to === undefined) {
    throw invalid('--to', 'is missing', 'Pass the target database: --to postgres://user@host/database')
  }
  const source = await sourceOf(parsed)
  const target = await storeAt(to, '--to')
  if (source.name === target.name) throw sameDatabase()
  if (parsed.has('verify-only') && !/^[a-z]+:\/\//i.test(to))
    await checkFile(to.replace(/^sqlite:/, ''), '--to')
  return { source, target }
}

/** Compares the open databases: two different paths or addresses may lead to the same database. */
export async function checkTwo({ source, target }: Places): Promise<void> {
  const [from, to] = await Promise.all([source.tools.identity(), target.tools.identity()])
  if (from === to) throw sameDatabase()
}

function sameDatabase(): JobmillError {
  return conflict('--to', 'is the same database as --from', 'Pass another database')
}

/** The database of `--from`, else the one that every other command would use. */
async function sourceOf(parsed: ParsedArguments): Promise<ToolStore<never>> {
  const from = parsed.text('from')
  if (from === undefined) return withTools((await optionsFor(parsed)).store)
  if (parsed.text('db') !== undefined) {
    throw conflict('--from and --db', 'both select the source database', 'Omit one of them')
  }
  if (!/^[a-z]+:\/\//i.test(from)) await checkFile(from.replace(/^sqlite:/, ''), '--from')
  return storeAt(from, '--from')
}

/** Opening a missing file would create an empty database. */
async function checkFile(path: string, field: '--from' | '--to'): Promise<void> {
  if (await isThere(path)) return
  throw invalid(field, `file not found: ${path}`, `Pass an existing database: ${field} sqlite:jobs.db`)
}

function withTools(store: Store<never>): ToolStore<never> {
  if ('tools' in store) return store as ToolStore<never>
  const what = `store ${store.name} does not support transfers`
  throw invalid('--from', what, 'Use a SQLite or PostgreSQL database')
}

/** Opening the source would migrate it, and the release that uses it now might no longer work with it. */
export function checkSchema(name: string, { isThere, pending }: SchemaStatus): void {
  if (!isThere) throw refused(`${name} has no Jobmill tables`, 'Check that this is the right database')
  if (pending.length > 0) throw refused(`${name} has pending migrations`, 'Run jobmill db migrate on it')
}

/** Without its tables, an application would start empty on the target. */
export function checkApps(name: string, others: readonly OtherTable[]): void {
  const ofApps = others.filter(({ app }) => app !== null)
  if (ofApps.length === 0) return
  const apps = [...new Set(ofApps.map(({ app }) => app))].join(' and ')
  throw new JobmillError(
    'TRANSFER_REFUSED',
    `${name} has tables of ${apps}, which are not copied: ${ofApps.map((table) => table.name).join(', ')}`,
    {
      fix: 'Pass --jobs-only to copy only the jobs, and copy these tables with a database tool such as pgloader',
    },
  )
}

/** A comparison creates and changes nothing, so the target must exist with a current schema. */
export function checkTarget(
  name: string,
  { isThere, pending, refused: problem }: SchemaStatus,
  isLook: boolean,
): void {
  if (problem !== null) throw refused(`${name} cannot be used: ${problem}`, 'Pass another database with --to')
  if (!isLook) return
  if (!isThere)
    throw refused(`${name} has no Jobmill tables to compare`, 'Omit --verify-only to transfer to it')
  if (pending.length > 0) throw refused(`${name} has pending migrations`, 'Run jobmill db migrate on it')
}

export function refused(what: string, fix: string): JobmillError {
  return new JobmillError('TRANSFER_REFUSED', what, { fix })
}
