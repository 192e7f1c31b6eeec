/**
 * Checks that tables, columns, functions and indexes match the migrations, and that all indexes are valid.
 */
import { driftDiagnostics, type SchemaFixes, nameOf, tableOf } from '../../store/admin/drift.ts'
import { broken, type Diagnostic } from '../../store/admin/admin.ts'
import { invalidIndexes, partsIn } from './catalog.ts'
import type { Look } from './reach.ts'
import { expectedParts } from './expected.ts'

/** Avoids a lock that blocks writers. Does not apply to constraints, which need one. */
function concurrently(statement: string): string {
  return statement.replace(/^CREATE (UNIQUE )?INDEX /, 'CREATE $1INDEX CONCURRENTLY ')
}

/** The server does not add a required column without a default to a table with rows. */
function canBeAdded(made: string): boolean {
  return !made.includes('NOT NULL') || /DEFAULT|IDENTITY/.test(made)
}

function repairs(sql: (text: string) => string): SchemaFixes {
  const table = (part: string): string => sql(`jobmill.${tableOf(part)}`)
  return {
    missing(part, made) {
      if (part.startsWith('index ')) return `Create it: ${concurrently(sql(made))}`
      if (part.startsWith('column ') && canBeAdded(made))
        return `Add it: ALTER TABLE ${table(part)} ADD COLUMN ${nameOf(part)} ${made}; its contents are lost`
      if (part.startsWith('trigger ')) return `Create it: ${sql(made)}`
      if (part.startsWith('sequence ')) return 'Restore a backup: a new sequence would issue numbers again'
      return part.startsWith('function ') ? FUNCTION : 'Restore a backup: its contents are lost'
    },
    other(part, made, found) {
      if (part.startsWith('column ')) return `Change ${table(part)}.${nameOf(part)} back to: ${made}`
      if (part.startsWith('trigger '))
        return `Recreate it: DROP TRIGGER ${nameOf(part)} ON ${table(part)}; ${sql(made)}`
      if (!part.startsWith('index '))
        return part.startsWith('function ') ? FUNCTION : `Change it back to ${made}`
      // The server does not drop the index of a constraint.
      const drop = found.startsWith('ALTER TABLE')
        ? `ALTER TABLE ${table(part)} DROP CONSTRAINT ${nameOf(part)}`
        : `DROP INDEX ${sql(`jobmill.${nameOf(part)}`)}`
      return `Recreate it: ${drop}; ${concurrently(sql(made))}`
    },
    foreign: (part) => `Drop it if it is not needed: ALTER TABLE ${table(part)} DROP COLUMN ${nameOf(part)}`,
  }
}

const FUNCTION =
  'Restore it from a backup of the schema, or run its statement in dist/store-postgres/schema as CREATE OR REPLACE FUNCTION'

export async function drift({ query, schema, sql }: Look): Promise<Diagnostic[]> {
  const expected = expectedParts()
  const found = driftDiagnostics(expected, await partsIn(query, schema), repairs(sql))
  const invalid = (await invalidIndexes(query, schema)).filter((part) => expected.has(part))
  if (invalid.length === 0) return found
  return [
    ...found.filter(({ check, level }) => check !== 'index' || level !== 'ok'),
    ...invalid.map((part) =>
      broken(
        'index',
        `the ${part} is invalid, so queries do not use it`,
        `Rebuild it: REINDEX INDEX CONCURRENTLY ${sql(`jobmill.${nameOf(part)}`)}`,
      ),
    ),
  ]
}
