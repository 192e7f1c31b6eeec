/**
 * Dumps a schema of a PostgreSQL database as a plain script and restores it: tables, indexes, sequences and
 * functions from the catalog, then the rows. The server from npm does not include pg_dump.
 */
import pg from 'pg'

/** Each query returns lines in one column, `line`, for the schema $1. In the order in which they can run. */
const PARTS: readonly string[] = [
  `SELECT format('CREATE SEQUENCE jobmill.%I AS %s;', c.relname, format_type(s.seqtypid, NULL)) AS line
     FROM pg_class AS c JOIN pg_sequence AS s ON s.seqrelid = c.oid
    WHERE c.relnamespace = $1::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'i') ORDER BY c.relname`,
  `SELECT format(E'CREATE TABLE jobmill.%I (\\n%s\\n)%s;', c.relname,
      (SELECT string_agg(format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          CASE a.attidentity WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END,
          CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)), E',\\n' ORDER BY a.attnum)
         FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
      ' WITH (' || array_to_string(c.reloptions, ', ') || ')') AS line
     FROM pg_class AS c WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' ORDER BY c.relname`,
  `SELECT format('ALTER TABLE jobmill.%I ADD CONSTRAINT %I %s;', c.relname, k.conname, pg_get_constraintdef(k.oid)) AS line
     FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
    WHERE c.relnamespace = $1::regnamespace AND k.contype IN ('p', 'u') ORDER BY c.relname, k.conname`,
  `SELECT pg_get_indexdef(i.indexrelid) || ';' AS line
     FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE c.relnamespace = $1::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = c.oid)
    ORDER BY c.relname`,
  `SELECT pg_get_functiondef(p.oid) || ';' AS line FROM pg_proc AS p WHERE p.pronamespace = $1::regnamespace ORDER BY p.proname`,
]

/** Created after the rows, which they would change. */
const TRIGGERS = `
SELECT pg_get_triggerdef(t.oid) || ';' AS line FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
 WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal ORDER BY c.relname, t.tgname`

const COLUMNS = `
SELECT c.relname AS table, json_agg(quote_ident(a.attname) ORDER BY a.attnum) AS columns
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' GROUP BY c.relname ORDER BY c.relname`

/** The next value of each sequence. */
const SEQUENCES = `
SELECT format('SELECT setval(''jobmill.%I'', %s);', sequencename, last_value) AS line
  FROM pg_sequences WHERE schemaname = $1 AND last_value IS NOT NULL ORDER BY sequencename`

export async function dumpPostgres(url: string, schema: string): Promise<string> {
  return withClient(url, async (client) => {
    const lines = async (text: string, values: string[]): Promise<string[]> =>
      (await client.query<{ line: string }>(text, values)).rows.map(({ line }) => line)
    const script = ['CREATE SCHEMA jobmill;']
    for (const part of PARTS) script.push(...(await lines(part, [schema])))
    const { rows: tables } = await client.query<{ table: string; columns: string[] }>(COLUMNS, [schema])
    for (const { table, columns } of tables) script.push(...(await lines(rowsOf(schema, table, columns), [])))
    script.push(...(await lines(SEQUENCES, [schema])), ...(await lines(TRIGGERS, [schema])), '')
    return script.join('\n').replaceAll(`"${schema}".`, 'jobmill.').replaceAll(`${schema}.`, 'jobmill.')
  })
}

function rowsOf(schema: string, table: string, columns: readonly string[]): string {
  const values = columns.map((column) => `quote_nullable(${column}::text)`).join(', ')
  const into = `INSERT INTO jobmill.${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE VALUES (%s);`
  return `SELECT format('${into}', concat_ws(', ', ${values})) AS line FROM ${schema}.${table} ORDER BY 1`
}

/** Restores into a schema that does not exist yet. */
export async function restorePostgres(url: string, schema: string, script: string): Promise<void> {
  // As in a dump of pg_dump: a function may call one that the script creates later.
  const before = 'SET check_function_bodies = false;\n'
  await withClient(url, (client) => client.query(before + script.replaceAll(/\bjobmill(?=[.;])/g, schema)))
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
