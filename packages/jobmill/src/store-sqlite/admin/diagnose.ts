/** Runs all doctor checks of a file. */
import { isJobmillError } from '../../job/errors.ts'
import { spanText } from '../../job/text/span-text.ts'
import { broken, type Diagnostic, ok, warning } from '../../store/admin/admin.ts'
import { driftDiagnostics, nameOf, type SchemaFixes, tableOf } from '../../store/admin/drift.ts'
import { type Check, ifWhole, runChecks } from '../../store/admin/run-checks.ts'
import { schemaDiagnostic } from '../../store/admin/schema-status.ts'
import { strayDiagnostic } from '../../store/admin/stray-keys.ts'
import { isStatementError } from '../connection/errors.ts'
import { type SqliteHandle, statementsOf } from '../connection/handle.ts'
import type { StoreSettings } from '../live.ts'
import { countStray } from '../retain/stray-keys.ts'
import { appliedMigrations } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { durability, fileSystem, freePages, integrity, journal, log, version } from './checks.ts'
import { afterMigrations, partsIn } from './parts.ts'
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
    const schema = schemaDiagnostic(applied, MIGRATIONS)
    const checks: Check[] = [['schema', () => [schema]]]
    // Drift can be checked only when the schema is up to date.
    if (applied !== null && schema.level === 'ok')
      checks.push(
        ['drift', whole.check(looking(drift))],
        ['keys', whole.only(looking((handle) => strayDiagnostic(countStray(statementsOf(handle)))))],
      )
    checks.push(
      ['journal', looking(journal)],
      ['durability', () => [durability(settings)]],
      ['file system', () => [fileSystem(settings.path)]],
      ['log', () => [log(settings.path)]],
      ['integrity', looking(integrity)],
      ['free space', looking(freePages)],
    )
    if (applied !== null) checks.push(['clock', looking((handle) => clock(handle, settings.clock()))])
    checks.push(['server', looking(version)])
    return await runChecks(checks, isStatementError)
  } catch (error) {
    if (!isJobmillError(error) || error.code !== 'STORE_UNSUPPORTED') throw error
    return [broken('integrity', error.message, error.fix ?? '')]
  }
}

const MOST_AHEAD_MS = 2_000

// Reads the newest job by primary key and the few instances; nothing is scanned.
const NEWEST = `
  SELECT max(at) AS at FROM (
    SELECT max(renewed_at) AS at FROM jobmill_instance
    UNION ALL SELECT enqueued_at FROM (SELECT enqueued_at FROM jobmill_job ORDER BY pk DESC LIMIT 1))`

function clock(handle: SqliteHandle, now: number): Diagnostic {
  const { at } = statementsOf(handle)(NEWEST).get() as { at: number | null }
  const aheadMs = (at ?? 0) - now
  if (aheadMs <= MOST_AHEAD_MS) return ok('clock', 'no row has a time in the future')
  return warning(
    'clock',
    `the newest row is ${spanText(aheadMs)} in the future: a clock is wrong or was set back`,
    'Correct the clock and synchronize it with NTP; until it catches up, leases do not expire and jobs run late',
  )
}

const RESTORE = 'Restore a backup from before the change: SQLite cannot alter a column in place'

const FIXES: SchemaFixes = {
  missing(part, made) {
    if (part.startsWith('index ')) return `Recreate it: ${made}`
    if (part.startsWith('column ') && canBeAdded(made))
      return `Restore it: ALTER TABLE ${tableOf(part)} ADD COLUMN ${nameOf(part)} ${made}; its content is lost`
    return 'Restore a backup: its content is lost'
  },
  other: (part, made) =>
    part.startsWith('index ') ? `Recreate it: DROP INDEX ${nameOf(part)}; ${made}` : RESTORE,
  foreign: (part) =>
    `Remove it if it is not needed: ALTER TABLE ${tableOf(part)} DROP COLUMN ${nameOf(part)}`,
}

/** SQLite adds neither a key nor a required column without a default to a table with rows. */
function canBeAdded(made: string): boolean {
  return !made.includes('PRIMARY KEY') && (!made.includes('NOT NULL') || made.includes('DEFAULT'))
}

function drift(handle: SqliteHandle): Diagnostic[] {
  return driftDiagnostics(afterMigrations(partsIn), partsIn(handle), FIXES)
}
