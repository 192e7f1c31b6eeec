/**
 * Builds the release after the current one: the current sources with one more migration. It proves that
 * upgrades work before a second release exists. Like a real migration, it adds columns to tables in use, a
 * table, an index and, on PostgreSQL, a function.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migration, type Migration } from '../../../packages/jobmill/src/store/admin/migrations.ts'
import { MIGRATIONS as POSTGRES } from '../../../packages/jobmill/src/store-postgres/schema/migrations.ts'
import { MIGRATIONS as SQLITE } from '../../../packages/jobmill/src/store-sqlite/schema/migrations.ts'
import { bundle } from './bundle.ts'

const NAME = 'the release after'

const ON_POSTGRES = `
ALTER TABLE jobmill.queue ADD COLUMN note text;
ALTER TABLE jobmill.job ADD COLUMN note text;
CREATE INDEX job_note ON jobmill.job (note) WHERE note IS NOT NULL;
CREATE TABLE jobmill.note (id int8 PRIMARY KEY);
CREATE FUNCTION jobmill.notes() RETURNS int8 LANGUAGE sql STABLE AS $$ SELECT count(*) FROM jobmill.note $$;
`
const ON_SQLITE = `
ALTER TABLE jobmill_queue ADD COLUMN note TEXT;
ALTER TABLE jobmill_job ADD COLUMN note TEXT;
CREATE INDEX jobmill_job_note ON jobmill_job (note) WHERE note IS NOT NULL;
CREATE TABLE jobmill_note (id INTEGER PRIMARY KEY) STRICT;
`

export const NEXT_MIGRATIONS: Readonly<Record<'sqlite' | 'postgres', readonly Migration[]>> = {
  sqlite: [...SQLITE, migration(SQLITE.length + 1, NAME, ON_SQLITE)],
  postgres: [...POSTGRES, migration(POSTGRES.length + 1, NAME, ON_POSTGRES)],
}

/**
 * Builds it into a new folder, which `onEnd` removes. The folder is inside the repository, so that it
 * resolves its dependencies.
 */
export async function buildNextRelease(onEnd: (end: () => Promise<void>) => void): Promise<string> {
  const reports = fileURLToPath(new URL('../../../reports', import.meta.url))
  mkdirSync(reports, { recursive: true })
  const folder = mkdtempSync(join(reports, 'next-release-'))
  onEnd(async () => rmSync(folder, { recursive: true, force: true }))
  await bundle(folder, (file, text) => {
    const store = /^store-(sqlite|postgres)\/schema\/migrations\.ts$/.exec(file)?.[1] as
      | 'sqlite'
      | 'postgres'
      | undefined
    if (store === undefined) return text
    const { number, name, sql } = NEXT_MIGRATIONS[store].at(-1) ?? {}
    const args = [number, name, sql].map((value) => JSON.stringify(value)).join(', ')
    return text.replace(
      /(MIGRATIONS: readonly Migration\[\] = \[[^]*)\]/,
      `$1, migration(${args.replaceAll('$', '$$$$')})]`,
    )
  })
  return folder
}
