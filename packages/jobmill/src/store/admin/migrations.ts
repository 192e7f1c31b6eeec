/** Migrations: numbered, checksummed and append-only. Each store runs them in its own way. */
import { createHash } from 'node:crypto'
import { JobmillError } from '../../job/errors.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

export type AppliedMigration = Omit<Migration, 'sql'>

export function migration(number: number, name: string, sql: string): Migration {
  return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex').slice(0, 16) }
}

/** Rejects a database that the installed release does not understand, before anything is written. */
export function checkApplied(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const newest = known.at(-1)?.number ?? 0
  const newer = applied.find((one) => one.number > newest)
  if (newer !== undefined) {
    const what = `migration ${newer.number} (${newer.name}) is unknown to the installed release, whose last migration is ${newest}`
    const fix = 'Install the release of jobmill that migrated this database, or a newer one'
    throw new JobmillError('SCHEMA_NEWER', what, { fix })
  }
  for (const { number, name, checksum } of known) {
    // After a restore under a running process, a migration may be listed twice.
    const there = applied.find((one) => one.number === number && one.checksum !== checksum)
    if (there === undefined) continue
    const what = `migration ${number} (${name}) was applied with different contents (${there.checksum} in the database, ${checksum} in the installed release)`
    const fix = 'Use the release that created this database. Released migrations are never edited'
    throw new JobmillError('SCHEMA_CHANGED', what, { fix })
  }
}

export function pending(applied: readonly AppliedMigration[], known: readonly Migration[]): Migration[] {
  const done = new Set(applied.map((one) => one.number))
  return known.filter((one) => !done.has(one.number))
}
