/** Runs all checks of a database. Read-only, and takes no lock that blocks writers. */
import { broken, type DiagnoseOptions, type Diagnostic, ok, OPEN_FOR_MS } from '../../store/admin/admin.ts'
import { type Check, ifWhole, runChecks } from '../../store/admin/run-checks.ts'
import { schemaDiagnostic } from '../../store/admin/schema-status.ts'
import { strayDiagnostic } from '../../store/admin/stray-keys.ts'
import { newClient } from '../connection/driver.ts'
import { codeOf, wasAnswered } from '../connection/errors.ts'
import { unnamedDiagnostic } from '../names/unnamed-jobs.ts'
import { countStray } from '../retain/stray-keys.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { sequencesBehind } from '../schema/sequences.ts'
import { wrongRowCounts } from '../schema/single-rows.ts'
import { bloat } from './check-bloat.ts'
import { horizon } from './check-horizon.ts'
import { notifier } from './check-notifier.ts'
import { replica } from './check-replica.ts'
import { drift } from './check-schema.ts'
import { clock, connections, encoding, version } from './check-server.ts'
import { autovacuum, durability } from './check-settings.ts'
import { type Look, type Site, withConnectionIfThere } from './reach.ts'

export async function diagnose(
  site: Site,
  { openForMs = OPEN_FOR_MS }: DiagnoseOptions = {},
): Promise<Diagnostic[]> {
  const { settings } = site
  const diagnostics = await withConnectionIfThere(settings, async ({ query }) => {
    const look: Look = { ...site, query }
    const applied = await appliedMigrations(query, site)
    const schema = schemaDiagnostic(applied, MIGRATIONS)
    const whole = ifWhole()
    // The expected objects are known for the newest schema only.
    const tables: Check[] =
      schema.level === 'ok'
        ? [
            ['drift', whole.check(() => drift(look))],
            ['sequences', whole.only(() => sequences(look))],
            ['rows', () => rows(look)],
            ['names', whole.only(async () => [await unnamedDiagnostic(query, site.sql)])],
            ['keys', whole.only(async () => [strayDiagnostic(await countStray(query, site.sql))])],
          ]
        : []
    return runChecks(
      [
        ['schema', () => [schema]],
        ...tables,
        ['durability', () => durability(look)],
        ['autovacuum', () => autovacuum(look)],
        ['horizon', () => horizon(look, openForMs)],
        ['bloat', () => bloat(look)],
        ['notifier', async () => [await notifier(look)]],
        ['replica', whole.only(() => replica(look))],
        ['encoding', async () => [await encoding(look)]],
        ['clock', async () => [await clock(look)]],
        ['connections', async () => [await connections(look)]],
        ['server', async () => [await version(look)]],
      ],
      wasAnswered,
    )
  })
  if (diagnostics !== null) return diagnostics
  const { database } = newClient(settings.url)
  return [broken('schema', `the database ${database ?? ''} does not exist`, 'Run jobmill db create')]
}

async function sequences({ query, sql }: Look): Promise<Diagnostic[]> {
  const behind = await sequencesBehind(query, sql)
  if (behind.length === 0) return [ok('sequences', 'no sequence is behind its table')]
  return behind.map(({ name, issued, highest }) =>
    broken(
      'sequences',
      `the sequence ${sql(`jobmill.${name}`)} is at ${issued}, but its table has ${highest}, so it will issue used numbers again`,
      'Restart a process that uses this database: it raises the sequences when it starts',
    ),
  )
}

async function rows({ query, sql }: Look): Promise<Diagnostic[]> {
  const wrong = await wrongRowCounts(query, sql).catch((error: unknown) => {
    // The check of the schema reports missing tables.
    if (codeOf(error) === '42P01') return null
    throw error
  })
  if (wrong === null) return []
  if (wrong.length === 0) return [ok('rows', 'every single-row table has one row')]
  return wrong.map(({ name, count, wanted }) =>
    broken(
      'rows',
      `the table ${sql(`jobmill.${name}`)} has ${count} rows instead of ${wanted}`,
      'Restart a process that uses this database: it restores the right rows when it starts',
    ),
  )
}
