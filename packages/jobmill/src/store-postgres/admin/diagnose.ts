/** Runs all checks of a database. Read-only, and takes no lock that blocks writers. */
import { type Check, ifWhole, runChecks } from '../../store/admin/run-checks.ts'
import { broken, type DiagnoseOptions, type Diagnostic, OPEN_FOR_MS } from '../../store/admin/admin.ts'
import { schemaDiagnostic } from '../../store/admin/schema-status.ts'
import { strayDiagnostic } from '../../store/admin/stray-keys.ts'
import { wasAnswered } from '../connection/errors.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { bloat } from './check-bloat.ts'
import { notifier } from './check-notifier.ts'
import { horizon } from './check-horizon.ts'
import { rows } from './check-rows.ts'
import { drift } from './check-schema.ts'
import { sequences } from './check-sequences.ts'
import { clock, connections, encoding, version } from './check-server.ts'
import { autovacuum, durability } from './check-settings.ts'
import { countStray } from '../retain/stray-keys.ts'
import { unnamedDiagnostic } from '../names/unnamed-jobs.ts'
import { newClient } from '../connection/driver.ts'
import { withConnectionIfThere, type Look, type Site } from './reach.ts'

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
        ['notifier', () => notifier(look)],
        ['encoding', () => encoding(look)],
        ['clock', () => clock(look)],
        ['connections', () => connections(look)],
        ['server', () => version(look)],
      ],
      wasAnswered,
    )
  })
  if (diagnostics !== null) return diagnostics
  const { database } = newClient(settings.url)
  return [broken('schema', `the database ${database ?? ''} does not exist`, 'Run jobmill db create')]
}
