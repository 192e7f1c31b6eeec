/**
 * What all connections to PostgreSQL share: their parsers, and the check of the encoding. The parsers of pg
 * are global, and an application may replace them for its own statements. The common types therefore have
 * parsers of their own here; pg converts all others.
 */
import { JobmillError } from 'jobmill'
import pg from 'pg'

type Parse = (text: string) => unknown

const BYTEA = 17
// The parser of pg reads the format `escape`, which a server may send because of its setting bytea_output.
const asBytes: Parse = (text) =>
  text.startsWith(String.raw`\x`)
    ? Buffer.from(text.slice(2), 'hex')
    : (pg.types.getTypeParser(BYTEA) as Parse)(text)

const entriesOf = (oids: readonly number[], parse: Parse) => oids.map((oid) => [oid, parse] as const)

const PARSERS: ReadonlyMap<number, Parse> = new Map([
  ...entriesOf([16], (text) => text === 't'),
  ...entriesOf([BYTEA], asBytes),
  // Counts and timestamps are integers well below 2^53.
  ...entriesOf([20, 21, 23, 701], (text) => Number(text)),
  ...entriesOf([19, 25, 1043, 1700, 2950], (text) => text),
  ...entriesOf([114, 3802], (text) => JSON.parse(text) as unknown),
])

/** The option `types` of a pg client. */
export const TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): Parse =>
    (format === 'binary' ? undefined : PARSERS.get(oid)) ?? (pg.types.getTypeParser(oid, format) as Parse),
}

const ENCODING = 'UTF8'

/** Rejects a database whose encoding is not UTF8, as the mill does. Call it before anything is created. */
export async function checkEncoding(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding')
  const encoding = rows[0]?.server_encoding
  if (encoding === ENCODING) return
  const what = `the database cannot store all characters, because its encoding is not ${ENCODING}`
  throw new JobmillError('STORE_UNSUPPORTED', what, {
    field: 'server_encoding',
    value: JSON.stringify(encoding),
    fix: `Use a UTF8 database: CREATE DATABASE jobs TEMPLATE template0 ENCODING '${ENCODING}' LOCALE 'C'`,
  })
}
