/** Refuses a PostgreSQL database that cannot store every text, as the store of the mill does. */
import { JobmillError } from 'jobmill'
import type pg from 'pg'

const ENCODING = 'UTF8'

/** Rejects a database whose encoding is not UTF8. Call it before anything is created there. */
export async function checkEncoding(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding')
  const encoding = rows[0]?.server_encoding
  if (encoding === ENCODING) return
  throw new JobmillError(
    'STORE_UNSUPPORTED',
    `the database cannot store every text, because its encoding is not ${ENCODING}`,
    {
      field: 'server_encoding',
      value: JSON.stringify(encoding),
      fix: `Use a database with this encoding: CREATE DATABASE jobs TEMPLATE template0 ENCODING '${ENCODING}' LOCALE 'C'`,
    },
  )
}
