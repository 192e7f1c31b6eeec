/** Migrations: numbered, checksummed and append-only. Each store runs them in its own way. */
import { createHash } from 'node:crypto'
import { JobmillError } from '../../job/errors.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

export interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

export function migration(number: number, name: string, sql: string): Migration {
  return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex').slice(0, 16) }
}

/** Rejects a database that the installed release does not understand, before anything is written. */
export function checkApplied(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const newest = known.at(-1)?.number ?? 0
  const newer = applied.find((one) => one.number > newest)
  if (newer !== undefined) {
    throw new JobmillError(
      'SCHEMA_NEWER',
      `migration ${newer.number} (${newer.name}) is unknown to the installed release, whose last migration is ${newest}`,
      {
        fix: 'Install the release of jobmill that migrated this database, or a newer one',
      },
    )
  }
  for (const { number, name, checksum } of known) {
    const there = applied.find((one) => one.number === number)
    if (there === undefined || there.checksum === checksum) continue
    throw new JobmillError(
      'SCHEMA_CHANGED',
      `migration ${number} (${name}) was applied with different contents (${there.checksum} in the database, ${checksum} in the installed release)`,
      {
        fix: 'Use the release that created this database. Released migrations are never edited',
      },
    )
  }
}

export function pending(applied: readonly AppliedMigration[], known: readonly Migration[]): Migration[] {
  const done = new Set(applied.map((one) => one.number))
  return known.filter((one) => !done.has(one.number))
}
