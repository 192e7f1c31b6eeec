/** The id of this inbox, created once. A copy of the database keeps it. */
import type { Inside } from './inside.ts'

/**
 * Opens the tables and returns the id. If they are created again while this process runs, they get the same
 * id, because the blob folder is marked with it.
 */
export async function openTablesWithId({ tables, newId }: Pick<Inside, 'tables' | 'newId'>): Promise<string> {
  let id = newId()
  // One of several processes that start at the same time creates it.
  await tables.open((db) =>
    db
      .insertInto('uploads_inbox')
      .values({ n: 1, id })
      .onConflict((conflict) => conflict.column('n').doNothing())
      .execute(),
  )
  ;({ id } = await tables.db.selectFrom('uploads_inbox').select('id').executeTakeFirstOrThrow())
  return id
}
