/** The expected schema of doctor and drop equals what the migrations create, on every server. */
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import { partsIn } from '../../src/store-postgres/admin/catalog.ts'
import { EXPECTED, expectedParts } from '../../src/store-postgres/admin/expected.ts'
import { written } from './written-parts.ts'

test.each(['postgresUrl', 'oldPostgresUrl'] as const)(
  'expected.ts lists what exists after all migrations at %s',
  async (which) => {
    const url = inject(which)
    if (url === null) return
    const schema = freshSchema(url, 'expected')
    const store = postgres(url, { schema, notifier: false })
    await store.open()
    await store.close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const query = async (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
      (await client.query<Record<string, unknown>>(text, [...values])).rows
    const actual = await partsIn(query, schema)
    await client.end()
    expect(written(actual)).toEqual(EXPECTED.trim().split('\n'))
    expect(new Map(expectedParts())).toEqual(new Map(actual))
  },
)
