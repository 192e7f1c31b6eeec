/**
 * Measures what claims, finishes and heartbeats on PostgreSQL cost on a bad day, compared with a good day in
 * the same run: a transaction that stays open, 1,000,000 jobs of a kind that this process does not run,
 * 10,000 priorities in one queue, and no autovacuum. The checks compare numbers of pages, because times
 * depend on the load of the machine. Exits with 1 if a check fails. See docs/internals/bad-days.md.
 *
 *   npm run bench:bad-days -- [--scale 1] [--only NAME,NAME] [--traffic NAME,NAME]
 *
 * `--scale 0.1` runs a tenth of the jobs, to try the program.
 */
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import type pgDriver from 'pg'
import type { FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { aClaim, aHeartbeat, anInstance, someJobs } from 'jobmill-conformance'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { createDatabase } from '../servers/postgres.ts'

/** The driver that the store loads. bench/ has another copy for the peers. */
const pg = createRequire(import.meta.resolve('jobmill'))('pg') as typeof pgDriver

const { values: given } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    traffic: { type: 'string', default: '' },
  },
})
const SCALE = Number(given.scale)
const QUEUE = 'default'
const KIND = 'work'
const OTHER_KIND = 'other'

/**
 * How the measured jobs pass: from a backlog, 500 at a time; a few at a time; or one by one. The jobs before
 * them pass 500 at a time.
 */
const TRAFFICS = {
  bulk: { backlog: 20_000, enqueue: 1_000, claim: 500, last: 20_000 },
  steady: { backlog: 0, enqueue: 20, claim: 50, last: 10_000 },
  single: { backlog: 0, enqueue: 1, claim: 1, last: 1_000 },
} as const
type TrafficName = keyof typeof TRAFFICS
/**
 * How long to measure: at least `LAST_MS`, and long enough for several full scans, of which one is allowed
 * after twenty times the duration of the one before.
 */
const LAST_MS = 5_000
const SLOWEST_TIMES = 60
const MOST_MS = 60_000

/** What makes the day bad, in a session of its own. Returns what to do when the day is over. */
type Trouble = (client: pgDriver.Client) => Promise<() => Promise<unknown>>

interface Day {
  readonly name: string
  readonly traffic: TrafficName
  /** How many jobs pass before the measurement. */
  readonly jobs: number
  readonly trouble?: Trouble
  /** The number of priorities of the jobs. */
  readonly priorities?: number
}

const nothing = (): Promise<void> => Promise.resolve()
const OPEN_TRANSACTION: Trouble = async (client) => {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT pg_current_xact_id()')
  return () => client.query('ROLLBACK')
}
const OTHER_KINDS: Trouble = async (client) => {
  await client.query(
    `INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
     SELECT (SELECT id FROM jobmill.queue WHERE name = $1), 0, nextval('jobmill.seq'), gen_random_uuid(), 0,
            (SELECT id FROM jobmill.kind WHERE name = $2), 0, 0, 0, 0
       FROM generate_series(1, $3::int4)`,
    [QUEUE, OTHER_KIND, Math.round(1_000_000 * SCALE)],
  )
  await client.query('VACUUM ANALYZE jobmill.ready')
  return nothing
}
const NO_AUTOVACUUM: Trouble = async (client) => {
  const { rows } = await client.query<{ name: string; toast: boolean }>(
    `SELECT quote_ident(relname) AS name, reltoastrelid <> 0 AS toast FROM pg_class
      WHERE relnamespace = 'jobmill'::regnamespace AND relkind = 'r'`,
  )
  for (const { name, toast } of rows)
    await client.query(
      `ALTER TABLE jobmill.${name} SET (autovacuum_enabled = off${toast ? ', toast.autovacuum_enabled = off' : ''})`,
    )
  return nothing
}

const DAYS: readonly Day[] = [
  { name: 'good', traffic: 'bulk', jobs: 20_000 },
  { name: 'good', traffic: 'steady', jobs: 20_000 },
  { name: 'good', traffic: 'single', jobs: 20_000 },
  { name: 'open-transaction', traffic: 'bulk', jobs: 200_000, trouble: OPEN_TRANSACTION },
  { name: 'open-transaction', traffic: 'steady', jobs: 60_000, trouble: OPEN_TRANSACTION },
  { name: 'open-transaction', traffic: 'single', jobs: 60_000, trouble: OPEN_TRANSACTION },
  { name: 'other-kind', traffic: 'bulk', jobs: 20_000, trouble: OTHER_KINDS },
  { name: 'other-kind', traffic: 'steady', jobs: 20_000, trouble: OTHER_KINDS },
  { name: 'other-kind', traffic: 'single', jobs: 20_000, trouble: OTHER_KINDS },
  { name: 'priorities', traffic: 'bulk', jobs: 200_000, priorities: 10_000 },
  { name: 'priorities', traffic: 'steady', jobs: 60_000, priorities: 10_000 },
  { name: 'no-autovacuum', traffic: 'bulk', jobs: 300_000, trouble: NO_AUTOVACUUM },
  { name: 'no-autovacuum', traffic: 'steady', jobs: 60_000, trouble: NO_AUTOVACUUM },
]

/** The statements of each part, by a text in them. */
const PARTS = {
  claim: 'jobmill.claim(',
  finish: 'jobmill.finish(',
  enqueue: 'jobmill.enqueue(',
  heartbeat: 'jobmill.heartbeat(',
  fold: 'jobmill.tally WHERE ctid',
} as const
type Part = keyof typeof PARTS
/** Per job for claims and writes; per call for heartbeats and folds, which run once in seconds. */
const PER_CALL: ReadonlySet<string> = new Set<Part>(['heartbeat', 'fold'])
interface Cost {
  readonly pages: number
  readonly ms: number
}
interface Measured extends Readonly<Record<Part, Cost>> {
  /** The pages of the claim index that half of the claims did not exceed. */
  readonly usualPages: number
  /** The share of the time that the server spent in claims that read many more pages: full scans. */
  readonly scanShare: number
}

/** The pages of the claim index that each claim read, and the time it took, as the function claim reports. */
const claims: { readonly pages: number; readonly ms: number }[] = []
// oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
const original = pg.Client.prototype.query
type Answered = (error: unknown, answer?: { readonly rows: readonly (readonly unknown[])[] }) => void
pg.Client.prototype.query = function noted(this: pgDriver.Client, ...args: unknown[]): unknown {
  const [config, answered] = args as [{ readonly text?: string }, Answered]
  if (config.text === undefined || !/^SELECT \* FROM \S+\.claim\(/.test(config.text))
    return Reflect.apply(original, this, args)
  const note: Answered = (error, answer) => {
    const told = answer?.rows.at(-1)?.[11]
    if (typeof told === 'string') claims.push(JSON.parse(told) as (typeof claims)[number])
    answered(error, answer)
  }
  return Reflect.apply(original, this, [config, note])
} as typeof original

const server = await startPostgres({
  binaries: 'current',
  settings: {
    shared_preload_libraries: 'pg_stat_statements',
    // A run takes a minute where a bad day takes an hour, so autovacuum looks more often.
    autovacuum_naptime: '1s',
    max_wal_size: '4GB',
  },
})

async function connect(url: string): Promise<pgDriver.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

async function opened(url: string): Promise<FullStore> {
  const store: FullStore = postgres(url)
  await store.open()
  return store
}

let databases = 0

async function measure({ name, traffic, jobs, trouble, priorities = 1 }: Day): Promise<Measured> {
  databases += 1
  const url = await createDatabase(server.url, `day_${databases}`)
  const [admin, troubled] = [await connect(url), await connect(url)]
  await admin.query('CREATE EXTENSION pg_stat_statements')
  const [worker, producer] = [await opened(url), await opened(url)]
  const me = anInstance({ kinds: [KIND], leaseMs: 3_600_000 })
  await worker.instances.register(me)
  // Creates the names.
  await producer.enqueue(someJobs([{ kind: OTHER_KIND }]))
  const endTrouble = await (trouble?.(troubled) ?? nothing)

  let { backlog, enqueue, claim, last }: (typeof TRAFFICS)[TrafficName] = TRAFFICS.bulk
  const heartbeat = aHeartbeat(me.id, { leaseMs: 3_600_000 })
  let [sent, done, rounds] = [0, 0, 0]
  const ids = new Set<string>()
  let start: { readonly done: number; readonly at: number } | null = null
  const isOver = (): boolean => {
    if (start === null || done < start.done + last * SCALE) return false
    const slowest = claims.reduce((most, { ms }) => Math.max(most, ms), 0)
    return (
      performance.now() >= start.at + Math.min(MOST_MS, Math.max(LAST_MS * SCALE, SLOWEST_TIMES * slowest))
    )
  }
  while (!isOver()) {
    // Before other traffic, the backlog is used up.
    const isFilling = start !== null || traffic === 'bulk' || sent < jobs * SCALE
    const upTo = isFilling ? done + backlog + enqueue : 0
    for (; sent < upTo; sent += enqueue) {
      const first = sent
      // In no order.
      const requests = Array.from({ length: enqueue }, (_, n) => ({
        priority: ((first + n) * 7_919) % priorities,
      }))
      await producer.enqueue(someJobs(requests))
    }
    const request = aClaim(me.id, { queues: [{ queue: QUEUE, room: claim }], limit: claim })
    const leases = await worker.claim(request)
    await worker.finish(
      leases.map(({ id, token }) => {
        ids.add(id)
        return { id, token, outcome: 'returned', transition: { to: 'done', result: '1' } }
      }),
    )
    done += leases.length
    rounds += 1
    if (rounds % 10 === 0) await worker.instances.renew(heartbeat)
    if (rounds % 50 === 0) await worker.fold(10_000)
    if (rounds % 50 === 0) progress(`${name}, ${traffic}: ${done.toLocaleString('en')} jobs`)
    if (start === null && done >= jobs * SCALE && (traffic === 'bulk' || leases.length === 0)) {
      ;({ backlog, enqueue, claim, last } = TRAFFICS[traffic])
      claims.length = 0
      await admin.query('SELECT pg_stat_statements_reset()')
      start = { done, at: performance.now() }
    }
  }
  const elapsedMs = performance.now() - (start?.at ?? 0)
  const costs = await costsOf(admin, done - (start?.done ?? 0))
  progress('')
  await endTrouble()
  await Promise.all([worker.close(), producer.close(), admin.end(), troubled.end()])
  if (ids.size !== done) throw new Error(`${name}: ${done} leases of ${ids.size} jobs`)
  if (claims.length === 0) throw new Error('no claim was noted')
  const usualPages =
    claims.map(({ pages }) => pages).toSorted((a, b) => a - b)[Math.floor(claims.length / 2)] ?? 0
  const scans = claims.filter(({ pages }) => pages > 2 * usualPages)
  return { ...costs, usualPages, scanShare: scans.reduce((sum, { ms }) => sum + ms, 0) / elapsedMs }
}

let shownAt = 0
/** Shows how far a run is: in place on a terminal, otherwise a line every 10 s. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
  else if (text !== '' && performance.now() > shownAt + 10_000) {
    shownAt = performance.now()
    console.error(`  ${text}`)
  }
}

async function costsOf(admin: pgDriver.Client, jobs: number): Promise<Readonly<Record<Part, Cost>>> {
  const { rows } = await admin.query<{ query: string; calls: number; pages: number; ms: number }>(
    `SELECT query, calls::float8, (shared_blks_hit + shared_blks_read)::float8 AS pages, total_exec_time AS ms
       FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  const costs = Object.entries(PARTS).map(([part, text]) => {
    const found = rows.filter(({ query }) => query.includes(text))
    if (found.length === 0) throw new Error(`no statement contains "${text}"`)
    const sum = (key: 'calls' | 'pages' | 'ms'): number => found.reduce((all, one) => all + one[key], 0)
    const count = PER_CALL.has(part) ? Math.max(1, sum('calls')) : jobs
    return [part, { pages: sum('pages') / count, ms: sum('ms') / count }]
  })
  return Object.fromEntries(costs) as Record<Part, Cost>
}

function textOf(measured: Measured): string {
  const parts = (Object.keys(PARTS) as Part[]).map((part) => {
    const { pages, ms } = measured[part]
    const time = PER_CALL.has(part) ? `${ms.toFixed(2)} ms` : `${(ms * 1_000).toFixed(0)} µs`
    return `${part} ${pages.toFixed(1)} (${time})`
  })
  const { usualPages, scanShare } = measured
  return `${parts.join('  ')}  claim index ${usualPages}  full scans ${(scanShare * 100).toFixed(1)}%`
}

const MOST_TIMES = 2
/** Added to the pages of a good day, which may be as few as four. */
const FEW_PAGES = 10
/** Full scans may use a twentieth of the time. Their cost per job therefore depends on the machine. */
const MOST_SHARE = 0.1

/** Compares a bad day with the good day of the same traffic. */
function failures(bad: Measured, goodDay: Measured, traffic: TrafficName): string[] {
  const ofJob = (one: Measured): number => one.claim.pages + one.finish.pages + one.enqueue.pages
  const writes = (one: Measured): number => one.finish.pages + one.enqueue.pages
  const times: readonly (readonly [string, number])[] =
    traffic === 'bulk'
      ? [
          ['pages per job for claim', bad.claim.pages / goodDay.claim.pages],
          ['pages per job', ofJob(bad) / ofJob(goodDay)],
        ]
      : [
          ['pages of the claim index per claim', bad.usualPages / (goodDay.usualPages + FEW_PAGES)],
          ['pages per job for enqueue and finish', writes(bad) / writes(goodDay)],
        ]
  const tooMany = times.filter(([, n]) => !(n <= MOST_TIMES))
  return [
    ...tooMany.map(([what, n]) => `${what}: ${n.toFixed(1)} times a good day (at most ${MOST_TIMES})`),
    ...(bad.scanShare <= MOST_SHARE
      ? []
      : [`full scans use ${(bad.scanShare * 100).toFixed(1)}% of the time`]),
  ]
}

const only = given.only === '' ? null : new Set(['good', ...given.only.split(',')])
const unknown = [...(only ?? [])].filter((name) => !DAYS.some((day) => day.name === name))
if (unknown.length > 0) throw new Error(`--only: unknown day "${unknown.join(', ')}"`)
console.log('pages and time of the server: per job for claim, finish and enqueue, per call for the others')
const good = new Map<TrafficName, Measured>()
try {
  for (const day of DAYS) {
    if (only !== null && !only.has(day.name)) continue
    if (given.traffic !== '' && !given.traffic.split(',').includes(day.traffic)) continue
    const measured = await measure(day)
    console.log(`${day.name.padEnd(17)} ${day.traffic.padEnd(7)} ${textOf(measured)}`)
    const before = good.get(day.traffic)
    if (before === undefined) good.set(day.traffic, measured)
    else
      for (const failure of failures(measured, before, day.traffic)) {
        console.error(`  FAILED ${failure}`)
        process.exitCode = 1
      }
  }
} finally {
  await server.stop()
}
