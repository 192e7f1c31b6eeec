/** `jobmill db create`, `migrate`, `status`, `schema` and `reset`. */
import type { SchemaStatus } from '../../store/admin/admin.ts'
import { isCurrent } from '../../store/admin/schema-status.ts'
import type { Store } from '../../store/store.ts'
import { print } from '../output/print.ts'
import { table } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'
import { waitingFor } from '../output/progress.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { optionsFor, toolsOf } from '../with-mill.ts'
import { dbDoctor } from './db-doctor.ts'

const NEW = { mayCreate: true, mayCreateNamed: true }

const create: Command = {
  words: 'db create',
  says: 'create the database if it does not exist (db migrate or the first start creates the tables)',
  examples: ['jobmill db create', 'jobmill db create --db postgres://app@localhost/app'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, NEW)
    const created = await waitingFor('the database', toolsOf(store).create(), terminal)
    const text = `${store.name}: ${created ? 'created' : 'already exists'}`
    return print(parsed, terminal, { json: { store: store.name, created }, text })
  },
}

/** Applies pending migrations, as the first start of a new release would. */
const migrate: Command = {
  words: 'db migrate',
  says: 'apply pending migrations; running processes may continue',
  examples: ['jobmill db migrate', 'jobmill db migrate --db sqlite:jobs.db'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, NEW)
    const before = await toolsOf(store).schema()
    if (before.refused !== null) {
      terminal.err(`error   ${before.refused}`)
      return EXIT.refused
    }
    if (!isCurrent(before)) await applyMigrations(store, terminal)
    const applied = before.pending.map(({ number, name }) => `applied  ${number} ${name}`)
    const json = { store: store.name, applied: before.pending }
    return print(parsed, terminal, { json, text: [...applied, `${store.name}: up to date`] })
  },
}

/** Opening a store applies all pending migrations in one transaction. */
async function applyMigrations(store: Store<never>, terminal: Terminal): Promise<void> {
  try {
    await waitingFor('the database', store.open(), terminal)
  } finally {
    await store.close()
  }
}

/** The exit code shows whether the schema is up to date. */
const status: Command = {
  words: 'db status',
  says: 'show applied and pending migrations; read-only (exits with 3 when one is pending)',
  examples: ['jobmill db status', 'jobmill db status --json || jobmill db migrate'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, NEW)
    const found = await toolsOf(store).schema()
    const text = [`${store.name}: ${statusText(found)}`, ...(found.isThere ? [listed(found)] : [])]
    const code = isCurrent(found) ? EXIT.done : EXIT.refused
    return print(parsed, terminal, { json: { store: store.name, ...found }, text, code })
  },
}

function statusText({ isThere, pending, refused }: SchemaStatus): string {
  if (!isThere) return 'no Jobmill tables yet. Run jobmill db migrate'
  if (refused !== null) return refused
  return pending.length === 0 ? 'up to date' : `${pending.length} pending. Run jobmill db migrate`
}

function listed({ applied, pending }: SchemaStatus): string {
  const rows = [
    ...applied.map(({ number, name }) => [number, name, 'applied'] as const),
    ...pending.map(({ number, name }) => [number, name, 'pending'] as const),
  ]
  return table(
    ['migration', 'name', 'state'],
    rows.toSorted(([a], [b]) => a - b),
    '',
  )
}

/** For reviews by database administrators, who may not have the database yet. */
const schema: Command = {
  words: 'db schema',
  says: 'print the SQL that creates all tables and functions; connects to no database',
  examples: ['jobmill db schema --db postgres://app@localhost/app > schema.sql', 'jobmill db schema'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, NEW)
    const sql = toolsOf(store).schemaSql()
    return print(parsed, terminal, { json: { store: store.name, sql }, text: sql })
  },
}

/**
 * Deletes everything that Jobmill created, and creates the tables again. Refused while instances are alive.
 */
const reset: Command = {
  words: 'db reset',
  says: 'delete all jobs, settings and metrics, and recreate the tables; refused while an instance runs',
  options: {
    force: { says: 'skip the confirmation prompt (still refused while an instance runs)' },
    remove: { says: 'drop the tables without recreating them' },
  },
  examples: ['jobmill db reset', 'jobmill db reset --force --db sqlite:test.db'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed)
    if (!(await isConfirmed(parsed, store.name, terminal))) return EXIT.refused
    const { alive } = await waitingFor('the database', toolsOf(store).drop(), terminal)
    if (alive.length > 0) {
      terminal.err(
        `error   nothing was deleted: ${alive.join(', ')} ${alive.length === 1 ? 'is' : 'are'} running on ${store.name}. ` +
          'Stop all instances first. A killed instance counts until its lease expires (10 s).',
      )
      return EXIT.refused
    }
    const isKept = !parsed.has('remove')
    if (isKept) await applyMigrations(store, terminal)
    const text = `${store.name}: ${isKept ? 'all data deleted, tables recreated' : 'all data deleted'}`
    return print(parsed, terminal, { json: { store: store.name, made: isKept }, text })
  },
}

/** Requires the name of the store, which cannot be typed by accident. */
async function isConfirmed(parsed: ParsedArguments, name: string, terminal: Terminal): Promise<boolean> {
  if (parsed.has('force')) return true
  if (!terminal.isInteractive) {
    const what = `is required without an interactive terminal: this deletes all Jobmill data in ${name}`
    throw invalid('--force', what, 'Pass --force to confirm')
  }
  const typed = await terminal.ask(`This deletes all Jobmill data in ${name}. Type that name to continue: `)
  if (typed.trim() === name) return true
  terminal.err('error   the name does not match; nothing was deleted.')
  return false
}

export const db: readonly Command[] = [create, migrate, status, schema, dbDoctor, reset]
