/** Which inbox the tables are of: an id that is made once. A copy of the database keeps it. */
import type { Inside } from './inside.ts'

export async function identityOf({ tables, newId }: Pick<Inside, 'tables' | 'newId'>): Promise<string> {
  // Of several processes that start at the same time, one makes it.
  await tables.db
    .insertInto('uploads_inbox')
    .values({ n: 1, id: newId() })
    .onConflict((conflict) => conflict.column('n').doNothing())
    .execute()
  const { id } = await tables.db.selectFrom('uploads_inbox').select('id').executeTakeFirstOrThrow()
  return id
}
