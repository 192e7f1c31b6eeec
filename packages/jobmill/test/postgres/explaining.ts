/**
 * A PostgreSQL store that explains its statements just before they run, and counts what our functions scan.
 */
import pg from 'pg'
import { expect } from 'vitest'
import { postgres } from '../../src/postgres.ts'
import type { FullStore } from '../../src/store/store.ts'

interface Plan {
  readonly statement: string
  /** Tables with a sequential scan. */
  readonly seqScans: readonly string[]
  readonly indexes: readonly string[]
  /** The types of all its nodes. */
  readonly nodes: readonly string[]
  /** The planner's estimate. */
  readonly cost: number
}

export interface Explained extends FullStore {
  readonly plans: Plan[]
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Total Cost': number
  readonly Plans?: readonly Node[]
}

/**
 * Wraps the queries of the driver on their own connection: plans depend on the statement and its values. It
 * changes the driver's class, which is fine in the process of one test file.
 */
export async function explaining(url: string, schema: string): Promise<Explained> {
  const store = postgres(url, { schema, notifier: false })
  await store.open()
  // The tests insert jobs of the first names, with the ids 1 and 2.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const table of ['queue', 'kind'])
    await client.query(`ALTER SEQUENCE ${schema}.${table}_ids RESTART WITH 1`)
  await client.end()
  const plans: Plan[] = []
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
  const original = pg.Client.prototype.query
  const busy = new WeakSet<pg.Client>()
  const inTransaction = new WeakSet<pg.Client>()
  async function explained(this: pg.Client, ...args: unknown[]): Promise<unknown> {
    const [config] = args
    const isOurs = typeof config === 'object' && config !== null && 'text' in config && 'values' in config
    if (isOurs && /^BEGIN\b/.test(String(config.text))) inTransaction.add(this)
    if (isOurs && /^(?:COMMIT|ROLLBACK)$/.test(String(config.text))) inTransaction.delete(this)
    if (isOurs && !busy.has(this) && OUR_FUNCTION.test(String(config.text))) {
      busy.add(this)
      const send = async (sent: unknown): Promise<Answer> =>
        (await Reflect.apply(original, this, [sent])) as Answer
      const isNested = inTransaction.has(this)
      plans.push({ statement: String(config.text), ...(await tried(send, config, { schema, isNested })) })
      busy.delete(this)
    } else if (
      isOurs &&
      !busy.has(this) &&
      /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(String(config.text))
    ) {
      busy.add(this)
      const { rows } = (await Reflect.apply(original, this, [
        { text: `EXPLAIN (FORMAT JSON) ${String(config.text)}`, values: config.values },
      ])) as { rows: { 'QUERY PLAN': unknown }[] }
      busy.delete(this)
      // The clients of the store leave JSON as text.
      const plan = rows[0]?.['QUERY PLAN']
      const [explanation] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: Node }]
      const nodes = flat(explanation.Plan)
      plans.push({
        statement: String(config.text),
        seqScans: nodes
          .filter((node) => node['Node Type'] === 'Seq Scan')
          .map((node) => node['Relation Name'] ?? ''),
        indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
        nodes: nodes.map((node) => node['Node Type']),
        cost: nodes[0]?.['Total Cost'] ?? 0,
      })
    }
    return Reflect.apply(original, this, args)
  }
  pg.Client.prototype.query = explained as typeof original
  return {
    ...store,
    plans,
    async close() {
      pg.Client.prototype.query = original
      await store.close()
    },
  }
}

/**
 * EXPLAIN does not look into functions, so their reads are counted instead, in a transaction that is rolled
 * back.
 */
const OUR_FUNCTION = /\.(?:claim|any_ready|enqueue|finish|heartbeat|wait_for)\(/

interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

const SCANS = `
SELECT c.relname, c.relkind, pg_stat_get_xact_numscans(c.oid)::int4 AS scans FROM pg_class AS c
 WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'i')`

async function tried(
  send: (statement: unknown) => Promise<Answer>,
  statement: object,
  { schema, isNested }: { readonly schema: string; readonly isNested: boolean },
): Promise<Omit<Plan, 'statement'>> {
  const count = async (): Promise<Answer['rows']> => (await send({ text: SCANS, values: [schema] })).rows
  await send(isNested ? 'SAVEPOINT tried' : 'BEGIN')
  const before = new Map((await count()).map(({ relname, scans }) => [relname, Number(scans)]))
  await send({ ...statement, rowMode: undefined })
  const used = (await count()).filter(({ relname, scans }) => Number(scans) > (before.get(relname) ?? 0))
  await send(isNested ? 'ROLLBACK TO tried' : 'ROLLBACK')
  const ofKind = (kind: string): string[] =>
    used.filter(({ relkind }) => relkind === kind).map(({ relname }) => String(relname))
  return { seqScans: ofKind('r'), indexes: ofKind('i'), nodes: [], cost: 0 }
}

function flat(node: Node | undefined): Node[] {
  return node === undefined ? [] : [node, ...(node.Plans ?? []).flatMap((child) => flat(child))]
}

/** Runs a verb and returns the plans of its statements. */
export async function plansOf(store: Explained, verb: () => Promise<unknown>): Promise<Plan[]> {
  store.plans.length = 0
  await verb()
  expect(store.plans.length).toBeGreaterThan(0)
  return store.plans
}

/**
 * Expects no sequential scan of these tables, no cost from which the server would compile the statement, and
 * the use of these indexes.
 */
export async function expectIndexes(
  store: Explained,
  big: readonly string[],
  verb: () => Promise<unknown>,
  indexes: readonly string[],
): Promise<void> {
  const plans = await plansOf(store, verb)
  const read = plans.flatMap((plan) => plan.seqScans).filter((table) => big.includes(table))
  expect(read, 'tables read from end to end').toEqual([])
  expect(Math.max(...plans.map(({ cost }) => cost))).toBeLessThan(COMPILED_FROM)
  const used = plans.flatMap((plan) => plan.indexes)
  for (const index of indexes) expect(used).toContain(index)
}

/**
 * The default of `jit_above_cost`: compiling such a statement takes a hundred times as long as running it.
 */
const COMPILED_FROM = 100_000
