/**
 * Checks that tables with a single row have exactly one. Runs on a schema with errors too, because the same
 * restore may cause both.
 */
import { broken, type Diagnostic, ok } from '../../store/admin/admin.ts'
import { codeOf } from '../connection/errors.ts'
import { wrongRowCounts } from '../schema/single-rows.ts'
import type { Look } from './reach.ts'

export async function rows({ query, sql }: Look): Promise<Diagnostic[]> {
  const wrong = await wrongRowCounts(query, sql).catch((error: unknown) => {
    // The check of the schema reports missing tables.
    if (codeOf(error) === '42P01') return null
    throw error
  })
  if (wrong === null) return []
  if (wrong.length === 0) return [ok('rows', 'every table for a single row has one')]
  return wrong.map(({ name, count }) =>
    broken(
      'rows',
      `the table ${sql(`jobmill.${name}`)} has ${count} rows instead of 1`,
      'Restart a process that uses this database: it restores the single row when it starts',
    ),
  )
}
