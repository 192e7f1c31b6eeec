// Recycles schemas among the tests of a process: creating one takes the server 110 ms and dropping it 80,
// emptying it a few. For tests that start with an empty, migrated database. Tests of migrations, or tests
// that change tables, use `freshSchema`. The schemas are dropped after the run.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished, TestRunner } from 'vitest'
import { postgres } from '../../../packages/jobmill/src/postgres.ts'
import { freshSchema } from '../databases.ts'
import { complain } from '../leaks/complain.ts'
import { aliveInSchema } from '../leaks/instance-rows.ts'

/** Unused schemas by server. */
const free = new Map<string, string[]>()

/**
 * Returns a new or emptied schema for one test. Call it before anything that the test must end, so that the
 * schema is emptied last. Outside of a test, the schema is for the whole file.
 */
export function recycledSchema(url: string, prefix?: string): string {
  if (TestRunner.getCurrentTest() === undefined) return freshSchema(url, prefix)
  const name = free.get(url)?.pop() ?? `${inject('patternSchema')}_${randomBytes(6).toString('hex')}`
  onTestFinished(async ({ task }) => {
    // After a failure, something may still write to the schema, so no other test gets it.
    if (task.result?.state !== 'fail') await release(url, name)
  })
  return name
}

async function release(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    complain('this test', await aliveInSchema(client, name))
    const there = await relations(client, name)
    if (there.length > 0) {
      const like = inject('patternSchema')
      patterns.set(url, patterns.get(url) ?? readPattern(client, url, like))
      const pattern = (await patterns.get(url)) as Pattern
      // A schema with other tables than ours is not recycled.
      if (there.map(textOf).join() !== pattern.relations.map(textOf).join()) return
      // A connection that a test left open may hold locks: fail here instead of hanging.
      await client.query(`set lock_timeout = '5s'; ${emptying(name, like, pattern)}`)
    }
    free.set(url, [...(free.get(url) ?? []), name])
  } finally {
    await client.end()
  }
}

interface Relation {
  readonly name: string
  readonly kind: string
}

const textOf = ({ name, kind }: Relation): string => `${kind} ${name}`

/** The state of an unused schema. */
interface Pattern {
  readonly relations: readonly Relation[]
  /** Tables that contain rows of migrations. */
  readonly filled: readonly string[]
}

const patterns = new Map<string, Promise<Pattern>>()

async function readPattern(client: pg.Client, url: string, schema: string): Promise<Pattern> {
  // The first file creates it; the migrations of the others wait for that and have nothing left to do.
  const store = postgres(url, { schema, notifier: false })
  await store.open()
  await store.close()
  const all = await relations(client, schema)
  const looks = tables(all).map(
    (name) => `select '${name}' as name where exists (select from ${schema}.${name})`,
  )
  const { rows } = await client.query<{ name: string }>(looks.join(' union all '))
  return { relations: all, filled: rows.map(({ name }) => name) }
}

const tables = (all: readonly Relation[]): string[] =>
  all.flatMap(({ name, kind }) => (kind === 'r' ? [name] : []))

async function relations(client: pg.Client, schema: string): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `select relname as name, relkind::text as kind from pg_class
     where relnamespace = to_regnamespace($1) and relkind <> 'i' order by 2, 1`,
    [schema],
  )
  return rows
}

/** Restores the schema to the state after its migrations. */
function emptying(schema: string, like: string, pattern: Pattern): string {
  return [
    'begin',
    // Without triggers the order of the tables does not matter; the rows are copied as they were.
    'set local session_replication_role = replica',
    ...tables(pattern.relations).map((name) => `delete from ${schema}.${name}`),
    ...pattern.filled.map(
      (name) => `insert into ${schema}.${name} overriding system value table ${like}.${name}`,
    ),
    `select setval(own.oid, coalesce(pg_sequence_last_value(like_it.oid), 1), pg_sequence_last_value(like_it.oid) is not null)
     from pg_class as own join pg_class as like_it on like_it.relname = own.relname
     where own.relkind = 'S' and own.relnamespace = '${schema}'::regnamespace and like_it.relnamespace = '${like}'::regnamespace`,
    'commit',
  ].join('; ')
}
