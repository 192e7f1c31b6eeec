/** The migration status of a database, for display and as a diagnostic. Shared by all stores. */
import { countText } from '../../job/text/count-text.ts'
import { isJobmillError, type JobmillError } from '../../job/errors.ts'
import { broken, type Diagnostic, type SchemaStatus, warning, ok } from './admin.ts'
import { type AppliedMigration, checkApplied, type Migration, pending } from './migrations.ts'

/** `applied` is null if the database does not exist or has no Jobmill tables. */
export function schemaStatus(
  applied: readonly AppliedMigration[] | null,
  known: readonly Migration[],
): SchemaStatus {
  return {
    isThere: applied !== null,
    applied: (applied ?? []).map(numberAndName),
    pending: pending(applied ?? [], known).map(numberAndName),
    refused: refusal(applied ?? [], known)?.message ?? null,
  }
}

export function schemaDiagnostic(
  applied: readonly AppliedMigration[] | null,
  known: readonly Migration[],
): Diagnostic {
  if (applied === null) {
    return broken('schema', 'the database has no Jobmill tables', 'Run jobmill db migrate')
  }
  const refused = refusal(applied, known)
  if (refused !== null) return broken('schema', refused.message, refused.fix ?? '')
  const missing = pending(applied, known)
  if (missing.length === 0)
    return ok('schema', `${countText(known.length, 'migration')} applied, none pending`)
  const names = missing.map(({ number, name }) => `${number} (${name})`).join(', ')
  return warning(
    'schema',
    `not applied yet: ${missing.length === 1 ? 'migration' : 'migrations'} ${names}`,
    'Run jobmill db migrate, or start a process of the installed release',
  )
}

/** Whether exactly the migrations of the installed release are applied. */
export function isCurrent({ isThere, pending: missing, refused }: SchemaStatus): boolean {
  return isThere && missing.length === 0 && refused === null
}

function numberAndName({ number, name }: AppliedMigration): { number: number; name: string } {
  return { number, name }
}

function refusal(applied: readonly AppliedMigration[], known: readonly Migration[]): JobmillError | null {
  try {
    checkApplied(applied, known)
    return null
  } catch (error) {
    if (!isJobmillError(error)) throw error
    return error
  }
}
