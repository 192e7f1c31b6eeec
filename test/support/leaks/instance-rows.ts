// Checks the instance rows of stopped mills in the databases of a test file: each must be marked as stopped.
// Runs once, before the databases are removed.
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import pg from 'pg'
import { stopped } from './watch-jobmill.ts'

/** Returns descriptions of the problems. */
export function aliveInFile(path: string): string[] {
  // The file may not exist, or not belong to a mill.
  if (stopped.size === 0 || !existsSync(path)) return []
  const database = new Database(path, { readonly: true })
  try {
    const isOurs = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'jobmill_instance'`).get()
    if (isOurs === undefined) return []
    // 0 means alive.
    const ids = database.prepare(`SELECT id FROM jobmill_instance WHERE state = 0`).pluck().all()
    return describeAlive(ids as string[], path)
  } finally {
    database.close()
  }
}

export async function aliveInSchema(client: pg.Client, schema: string): Promise<string[]> {
  if (stopped.size === 0) return []
  const table = `${pg.escapeIdentifier(schema)}.instance`
  const { rows: tables } = await client.query<{ is: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is', [
    table,
  ])
  if (tables[0]?.is !== true) return []
  const { rows } = await client.query<{ id: string }>(`SELECT id FROM ${table} WHERE ended_at IS NULL`)
  return describeAlive(
    rows.map(({ id }) => id),
    schema,
  )
}

function describeAlive(ids: readonly string[], where: string): string[] {
  return ids.flatMap((id) => {
    const test = stopped.get(id)
    return test === undefined
      ? []
      : [`instance: ${id} in ${where} is alive, and its mill was stopped in "${test}"`]
  })
}
