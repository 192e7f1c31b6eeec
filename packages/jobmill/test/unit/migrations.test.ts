/** Migrations: which are left to run, and which databases this release refuses to touch. */
import { expect, test } from 'vitest'
import { checkApplied, migration, pending } from '../../src/store/admin/migrations.ts'
import { refusal } from './support.ts'

const ONE = migration(1, 'foundation', 'create table a ()')
const TWO = migration(2, 'more', 'create table b ()')
const KNOWN = [ONE, TWO]

test('a checksum depends only on the text, and is pinned because databases of users store it', () => {
  expect(ONE).toEqual({
    number: 1,
    name: 'foundation',
    sql: 'create table a ()',
    checksum: 'f905865fc1b7e7d9',
  })
  expect(migration(9, 'other', ONE.sql).checksum).toBe(ONE.checksum)
  expect(TWO.checksum).not.toBe(ONE.checksum)
})

test('accepts a new database, a current one and one that is behind', () => {
  for (const applied of [[], [ONE], KNOWN]) expect(() => checkApplied(applied, KNOWN)).not.toThrow()
})

test('accepts a migration that was renamed but not changed', () => {
  expect(() => checkApplied([{ ...ONE, name: 'start' }], KNOWN)).not.toThrow()
})

test('refuses a database of a newer release', () => {
  const error = refusal(() => checkApplied([...KNOWN, { number: 3, name: 'later', checksum: 'x' }], KNOWN))
  expect(error.code).toBe('SCHEMA_NEWER')
  expect(error.message).toBe(
    'migration 3 (later) is unknown to the installed release, whose last migration is 2. ' +
      'Install the release of jobmill that migrated this database, or a newer one.',
  )
})

test('refuses a migration that was applied with different contents', () => {
  const error = refusal(() => checkApplied([ONE, { ...TWO, checksum: 'edited' }], KNOWN))
  expect(error.code).toBe('SCHEMA_CHANGED')
  expect(error.message).toBe(
    `migration 2 (more) was applied with different contents (edited in the database, ${TWO.checksum} in the installed release). ` +
      'Use the release that created this database. Released migrations are never edited.',
  )
})

test('reports a newer release before a changed migration: upgrading comes first', () => {
  const applied = [
    { ...ONE, checksum: 'edited' },
    { number: 3, name: 'later', checksum: 'x' },
  ]
  expect(refusal(() => checkApplied(applied, KNOWN)).code).toBe('SCHEMA_NEWER')
})

test('pending migrations are the missing ones, in order, even one in the middle', () => {
  expect(pending([], KNOWN)).toEqual(KNOWN)
  expect(pending([ONE], KNOWN)).toEqual([TWO])
  expect(pending([TWO], KNOWN)).toEqual([ONE])
  expect(pending(KNOWN, KNOWN)).toEqual([])
})
