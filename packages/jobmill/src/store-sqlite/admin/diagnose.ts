/** Runs all doctor checks of a file. */
import { isJobmillError } from '../../job/errors.ts'
import { type Check, ifWhole, runChecks } from '../../store/admin/run-checks.ts'
import { broken, type Diagnostic, ok } from '../../store/admin/admin.ts'
import type { AppliedMigration } from '../../store/admin/migrations.ts'
import { schemaDiagnostic } from '../../store/admin/schema-status.ts'
import { strayDiagnostic } from '../../store/admin/stray-keys.ts'
import { isStatementError } from '../connection/errors.ts'
import { type SqliteHandle, statementsOf } from '../connection/handle.ts'
import type { StoreSettings } from '../live.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { countStray } from '../retain/stray-keys.ts'
import { clock } from './check-clock.ts'
import { freePages, integrity } from './check-file.ts'
import { log } from './check-log.ts'
import { drift } from './check-schema.ts'
import { durability, fileSystem, journal, version } from './check-settings.ts'
import { isFileThere, lookInto } from './reach.ts'

export async function diagnose(settings: StoreSettings): Promise<Diagnostic[]> {
  if (settings.path === ':memory:') return [ok('schema', 'the database is in memory: nothing to check')]
  if (!isFileThere(settings)) {
    return [broken('schema', `the file ${settings.path} does not exist`, 'Run jobmill db migrate')]
  }
  // Each check uses its own handle, so that it holds back the log of other processes only while it runs.
  const looking =
    (look: (handle: SqliteHandle) => Diagnostic | readonly Diagnostic[]): Check[1] =>
    () =>
      lookInto(settings, look).then((found) => [found].flat())
  try {
    const whole = ifWhole()
    const applied = await lookInto(settings, appliedMigrations)
    return await runChecks(
      [
        ['schema', () => [schemaDiagnostic(applied, MIGRATIONS)]],
        ...(isComplete(applied)
          ? [
              ['drift', whole.check(looking(drift))] as const,
              [
                'keys',
                whole.only(looking((handle) => strayDiagnostic(countStray(statementsOf(handle))))),
              ] as const,
            ]
          : []),
        ['journal', looking(journal)],
        ['durability', () => [durability(settings)]],
        ['file system', () => [fileSystem(settings.path)]],
        ['log', () => [log(settings.path)]],
        ['integrity', looking(integrity)],
        ['free space', looking(freePages)],
        ...(applied === null
          ? []
          : [['clock', looking((handle) => clock(handle, settings.clock()))] as const]),
        ['server', looking(version)],
      ],
      isStatementError,
    )
  } catch (error) {
    if (!isJobmillError(error) || error.code !== 'STORE_UNSUPPORTED') throw error
    return [broken('integrity', error.message, error.fix ?? '')]
  }
}

/** Drift can be checked only when the schema is up to date. */
function isComplete(applied: readonly AppliedMigration[] | null): boolean {
  return applied !== null && schemaDiagnostic(applied, MIGRATIONS).level === 'ok'
}
