/** The catalog in the text form of store-postgres/admin/expected.ts, for the test that compares the two. */
import { nameOf, type Parts, tableOf } from '../../src/store/admin/drift.ts'

/** Columns are in the line of their table. */
export function written(parts: Parts): string[] {
  const columns = (table: string): string =>
    [...parts]
      .filter(([part]) => part.startsWith('column ') && tableOf(part) === table)
      .map(([part, made]) => `${nameOf(part)} ${made}`)
      .toSorted()
      .join('; ')
  return [...parts]
    .filter(([part]) => !part.startsWith('column '))
    .map(([part, made]) =>
      part.startsWith('table ') ? `${part}: ${columns(nameOf(part))}` : `${part}: ${made}`,
    )
    .toSorted()
}
