/** Whether tables, columns and indexes are those of the migrations. */
import { driftDiagnostics, type Mending, nameOf, tableOf } from '../../store/drift.ts'
import type { Diagnostic } from '../../store/admin.ts'
import type { SqliteHandle } from '../handle.ts'
import { afterMigrations, partsIn } from './parts.ts'

const RESTORE = 'Restore a backup from before the change: SQLite cannot change a column where it is'

const MENDING: Mending = {
  missing(part, made) {
    if (part.startsWith('index ')) return `Make it again: ${made}`
    if (part.startsWith('column ') && !made.includes('PRIMARY KEY'))
      return `Put it back: ALTER TABLE ${tableOf(part)} ADD COLUMN ${nameOf(part)} ${made}; what was in it is lost`
    return 'Restore a backup: what was in it is lost'
  },
  other: (part, made) =>
    part.startsWith('index ') ? `Make it anew: DROP INDEX ${nameOf(part)}; ${made}` : RESTORE,
  foreign: (part) =>
    `Take it away if nobody needs it: ALTER TABLE ${tableOf(part)} DROP COLUMN ${nameOf(part)}`,
}

export function drift(handle: SqliteHandle): Diagnostic[] {
  return driftDiagnostics(afterMigrations(partsIn), partsIn(handle), MENDING)
}
