/**
 * Sequences that are behind their tables, as after a switchover by logical replication, which does not copy
 * them: the store raises them, and no call is refused.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { defineJob, jobmill, type Mill } from '../../src/index.ts'
import type { AnyJob } from '../../src/job/kind/definition.ts'
import { postgres } from '../../src/postgres.ts'
import { SEQUENCES } from '../../src/store-postgres/schema/sequences.ts'

const url = inject('postgresUrl')
const admin = new pg.Client({ connectionString: url })
beforeAll(() => admin.connect())
afterAll(() => admin.end())

async function sequencesIn(schema: string): Promise<Map<string, number>> {
  const { rows } = await admin.query<{ name: string; value: string | null }>(
    'SELECT sequencename AS name, last_value AS value FROM pg_sequences WHERE schemaname = $1',
    [schema],
  )
  return new Map(rows.map(({ name, value }) => [name, Number(value ?? 0)]))
}

/** As a new primary has them: nothing was issued. In one transaction, because a running mill raises them. */
async function restart(schema: string, names: Iterable<string>): Promise<void> {
  await admin.query([...names].map((name) => `ALTER SEQUENCE ${schema}."${name}" RESTART`).join('; '))
}

async function behind(schema: string): Promise<string[]> {
  const found = await postgres(url, { schema, notifier: false }).tools.diagnose()
  return found.flatMap(({ check, level, message }) =>
    check === 'sequences' && level === 'error' ? [message] : [],
  )
}

function millIn(schema: string, jobs: readonly AnyJob[] = []): Mill {
  const mill = jobmill({ store: postgres(url, { schema }), jobs, log: 'silent' })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  return mill
}

const quick = defineJob({ kind: 'quick', queue: 'work', run: () => 1 })

/** A schema in which every sequence has issued numbers that its tables still have. */
async function used(): Promise<string> {
  const schema = freshSchema(url, 'sequences')
  const mill = millIn(schema, [quick])
  await mill.start()
  await (await mill.enqueue(quick, null)).result({ timeout: '30s' })
  for (let n = 0; n < 5; n += 1) await mill.enqueue('unserved', n, { queue: 'waits' })
  for (let n = 0; n < 3; n += 1) await mill.enqueue('ordered', n, { queue: 'waits', orderKey: 'one' })
  await mill.stop()
  for (const [table, values] of [
    ['order_check (queue_id, order_key)', `(0, 'none'), (0, 'none')`],
    ['metric_delta (at, scope, data)', `(0, 'none', '{}'), (0, 'none', '{}')`],
    [
      'event (at, type, source, data)',
      `(0, 'none', gen_random_uuid(), '{}'), (0, 'none', gen_random_uuid(), '{}')`,
    ],
  ] as const)
    await admin.query(`INSERT INTO ${schema}.${table} VALUES ${values}`)
  return schema
}

describe('D3 sequences behind their tables', () => {
  test('D3 the list has every sequence of the schema whose numbers must not repeat', async () => {
    const schema = await used()
    const names = SEQUENCES.map(({ name }) => name)
    // Lease tokens are times, so a restarted sequence repeats none. The last claim is a hint.
    const others = ['token', 'last_claim']
    expect([...(await sequencesIn(schema)).keys()].toSorted()).toEqual([...names, ...others].toSorted())
    expect(await behind(schema)).toEqual([])
  })

  test.each(SEQUENCES.slice(0, inFull(SEQUENCES.length, 1)).map(({ name }) => name))(
    'D3 %s: doctor reports it, and open raises it',
    async (name) => {
      const schema = await used()
      const before = (await sequencesIn(schema)).get(name) ?? 0
      await restart(schema, [name])
      const [message, ...others] = await behind(schema)
      expect(message).toContain(`.${name} is at 0`)
      expect(others).toEqual([])
      const store = postgres(url, { schema, notifier: false })
      await store.open()
      await store.close()
      expect(await behind(schema)).toEqual([])
      expect((await sequencesIn(schema)).get(name)).toBeGreaterThan(before)
    },
  )

  test('D3 P1 under a working mill: every call is accepted, and its jobs run', async () => {
    const schema = await used()
    const mill = millIn(schema, [quick, defineJob({ kind: 'new', queue: 'new', run: () => 2 })])
    await mill.start()
    await restart(schema, (await sequencesIn(schema)).keys())
    for (let n = 0; n < 3; n += 1) {
      await mill.enqueue('unserved', n, { queue: 'waits' })
      await mill.enqueue('unserved', n, { queue: 'waits', orderKey: 'one' })
      await mill.enqueue(`kind ${n}`.replace(' ', '-'), n, { queue: `queue-${n}` })
      expect(await (await mill.enqueue(quick, null)).result({ timeout: '30s' })).toBe(1)
    }
    expect(await behind(schema)).toEqual([])
  })

  test('D3 P10 in a user transaction: the next transaction is accepted', async () => {
    const schema = await used()
    const mill = millIn(schema)
    await mill.open()
    await admin.query(`SELECT setval('${schema}.seq', min(seq), false) FROM ${schema}.ready`)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('BEGIN')
    const refused = mill.enqueue('unserved', 1, { queue: 'waits', tx: client })
    // The transaction is aborted, and the error of the driver belongs to its owner.
    await expect(refused).rejects.toMatchObject({ code: '23505', constraint: 'ready_pkey' })
    await client.query('ROLLBACK')
    await client.query('BEGIN')
    await mill.enqueue('unserved', 1, { queue: 'waits', tx: client })
    await client.query('COMMIT')
  })
})
