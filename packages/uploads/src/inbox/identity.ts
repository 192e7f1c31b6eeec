/** The id of this inbox, created once. A copy of the database keeps it. */
import type { Inside } from './inside.ts'

export async function identityOf({ tables, newId }: Pick<Inside, 'tables' | 'newId'>): Promise<string> {
  // One of several processes that start at the same time creates it.
  await tables.db
    .insertInto('uploads_inbox')
    .values({ n: 1, id: newId() })
    .onConflict((conflict) => conflict.column('n').doNothing())
    .execute()
  const { id } = await tables.db.selectFrom('uploads_inbox').select('id').executeTakeFirstOrThrow()
  return id
}
