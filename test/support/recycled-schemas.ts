// Schemas that the tests of a process use one after the other: to make one takes the server 110 ms and to drop it 80, to empty it a few. For tests that begin
// with a database that is empty and up to date; who looks at how it comes about, or changes its tables, takes `freshSchema`. They are dropped after the run.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished, TestRunner } from 'vitest'
import { postgres } from '../../packages/jobmill/src/postgres.ts'
import { freshSchema } from './databases.ts'
import { complain } from './leaks/complain.ts'
import { aliveInSchema } from './leaks/instance-rows.ts'

/** By server. */
const free = new Map<string, string[]>()

/**
 * For one test: new, or as new. Asked for before anything that the test ends, so that it is emptied after all that has ended. What is asked for outside of a
 * test is for the whole file.
 */
export function recycledSchema(url: string, prefix?: string): string {
  if (TestRunner.getCurrentTest() === undefined) return freshSchema(url, prefix)
  const name = free.get(url)?.pop() ?? `${inject('patternSchema')}_${randomBytes(6).toString('hex')}`
  onTestFinished(async ({ task }) => {
    // Whatever goes on in it after a failure, nobody else is to see it.
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
      // A test that made tables of its own, or none of ours, keeps it for itself.
      if (there.map(textOf).join() !== pattern.relations.map(textOf).join()) return
      // A connection that a test forgot may hold locks: then fail here, do not hang.
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

/** How a schema is that nobody has used. */
interface Pattern {
  readonly relations: readonly Relation[]
  /** Tables in which migrations left rows. */
  readonly filled: readonly string[]
}

const patterns = new Map<string, Promise<Pattern>>()

async function readPattern(client: pg.Client, url: string, schema: string): Promise<Pattern> {
  // The first of all files makes it; the migrations of the others wait for that, and find it done.
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

/** Brings the schema back to how the migrations left it. */
function emptying(schema: string, like: string, pattern: Pattern): string {
  return [
    'begin',
    // No triggers: the order of the tables does not matter then, and we put back what was there.
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
