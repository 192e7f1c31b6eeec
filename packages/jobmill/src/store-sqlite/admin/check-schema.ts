/** Checks that tables, columns and indexes match the migrations. */
import { driftDiagnostics, type SchemaFixes, nameOf, tableOf } from '../../store/admin/drift.ts'
import type { Diagnostic } from '../../store/admin/admin.ts'
import type { SqliteHandle } from '../connection/handle.ts'
import { afterMigrations, partsIn } from './parts.ts'

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

export function drift(handle: SqliteHandle): Diagnostic[] {
  return driftDiagnostics(afterMigrations(partsIn), partsIn(handle), FIXES)
}
