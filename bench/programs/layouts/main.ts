/**
 * Compares table layouts of the PostgreSQL store with bare functions: no runtime, no limits, no keys. Each
 * layout claims and finishes the same jobs and keeps the same history. Prints medians: jobs per second, and
 * CPU of the server, bytes of WAL, written rows and index entries per job. Autovacuum runs as usual.
 *
 *   npm run bench:layouts -- [--jobs 100000] [--rounds 3] [--only NAME,NAME] [--setting NAME,NAME]
 *
 * Progress is printed to standard error.
 */
import { parseArgs } from 'node:util'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { LAYOUTS, OF_ONE_KIND } from './layouts.ts'
import { cpuOfTree } from '../../measure/cpu.ts'
import { median } from '../../report/figures.ts'
import { createDatabase, startPostgresServer } from '../../servers/postgres.ts'

interface Setting {
  readonly processes: number
  /** Jobs per call. */
  readonly claim: number
  readonly finish: number
  /** A transaction of another session stays open, so that no dead row can be removed. */
  readonly pinned?: true
  /** Jobs in the queue, if more than are measured. */
  readonly waiting?: number
  readonly kinds?: number
  readonly priorities?: number
}
const SETTINGS: Readonly<Record<string, Setting>> = {
  'one-500-500': { processes: 1, claim: 500, finish: 500 },
  'one-500-100': { processes: 1, claim: 500, finish: 100 },
  'one-500-10': { processes: 1, claim: 500, finish: 10 },
  'one-500-1': { processes: 1, claim: 500, finish: 1 },
  'one-50-50': { processes: 1, claim: 50, finish: 50 },
  'one-20-20': { processes: 1, claim: 20, finish: 20 },
  'one-10-10': { processes: 1, claim: 10, finish: 10 },
  'one-1-1': { processes: 1, claim: 1, finish: 1 },
  'two-500-500': { processes: 2, claim: 500, finish: 500 },
  'four-500-500': { processes: 4, claim: 500, finish: 500 },
  'four-500-100': { processes: 4, claim: 500, finish: 100 },
  pinned: { processes: 1, claim: 500, finish: 500, pinned: true },
  'four-pinned': { processes: 4, claim: 500, finish: 500, pinned: true },
  million: { processes: 1, claim: 500, finish: 500, waiting: 1_000_000 },
  mixed: { processes: 1, claim: 500, finish: 500, kinds: 20, priorities: 10 },
}

const { values: given } = parseArgs({
  options: {
    jobs: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: Object.keys(LAYOUTS).join(',') },
    setting: { type: 'string', default: Object.keys(SETTINGS).join(',') },
  },
})
const JOBS = Number(given.jobs)
const ROUNDS = Number(given.rounds)
/** Single jobs take longer, and need fewer for the same precision. */
const FEW = 100
const SHARE_OF_FEW = 0.2

const server = await startPostgresServer()
let databases = 0

interface Claimed {
  readonly id: string
  readonly seq: string
  readonly place: string
  readonly token: string
}
type Cost = Readonly<Record<'rate' | 'cpu' | 'wal' | 'rows' | 'entries' | 'perClaim', number>>

const WAL = `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS at`
/** An index entry for each inserted row and each update that is not HOT. Two partial indexes never match. */
const WRITTEN = `
SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::float8 AS rows,
       sum((n_tup_ins + n_tup_upd - n_tup_hot_upd) * (
         SELECT count(*) FROM pg_index AS x WHERE x.indrelid = s.relid
            AND (x.indpred IS NULL OR x.indexrelid = 'attempt_ended'::regclass)))::float8 AS entries
  FROM pg_stat_user_tables AS s`
const OTHERS = `SELECT count(*)::int4 AS n FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

async function measure(layout: string, setting: Setting, jobs: number): Promise<Cost> {
  databases += 1
  const url = await createDatabase(server.url, `layout_${databases}`)
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return client
  }
  const admin = await open()
  const read = async (text: string): Promise<Record<string, number>> =>
    (await admin.query<Record<string, number>>(text)).rows[0] ?? {}
  const { kinds = 1, priorities = 1, waiting = jobs } = setting
  await admin.query(LAYOUTS[layout] ?? '')
  await admin.query('SELECT fill($1, $2, $3)', [Math.max(jobs, waiting), kinds, priorities])
  await admin.query('VACUUM ANALYZE')
  await admin.query('CHECKPOINT')
  await admin.query('SELECT pg_stat_force_next_flush()')
  const pin = await open()
  if (setting.pinned) {
    await pin.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await pin.query('SELECT pg_current_xact_id()')
  }
  const clients = await Promise.all(Array.from({ length: setting.processes * 2 }, open))
  const [wal, written] = [await read(WAL), await read(WRITTEN)]
  const cpu = cpuOfTree(server.pid)
  const began = performance.now()
  const state = { claimed: 0, ended: 0, claims: 0 }
  const kindIds = Array.from({ length: kinds }, (_, n) => n + 1)
  await Promise.all(
    Array.from({ length: setting.processes }, (_, n) =>
      work(clients[n * 2] as pg.Client, clients[n * 2 + 1] as pg.Client, { setting, jobs, kindIds, state }),
    ),
  )
  const seconds = (performance.now() - began) / 1_000
  const used = cpuOfTree(server.pid) - cpu
  const bytes = ((await read(WAL))['at'] ?? 0) - (wal['at'] ?? 0)
  const { claimed, ended, claims } = state
  if (ended !== claimed || ended < jobs) throw new Error(`${layout}: ${ended} of ${claimed} jobs ended`)
  // A session reports what it wrote when it ends.
  await Promise.all([pin, ...clients].map((client) => client.end()))
  while (((await read(OTHERS))['n'] ?? 0) > 0) await sleep(5)
  const now = await read(WRITTEN)
  await admin.end()
  const perJob = (key: string): number => ((now[key] ?? 0) - (written[key] ?? 0)) / ended
  return {
    rate: ended / seconds,
    cpu: used / ended,
    wal: bytes / ended,
    rows: perJob('rows'),
    entries: perJob('entries'),
    perClaim: ended / claims,
  }
}

interface Run {
  readonly setting: Setting
  readonly jobs: number
  readonly kindIds: readonly number[]
  readonly state: { claimed: number; ended: number; claims: number }
}

/** One process: it claims while it writes the finishes of the claim before. */
async function work(claimer: pg.Client, finisher: pg.Client, { setting, jobs, kindIds, state }: Run) {
  const instance = randomUUID()
  let floor = '0'
  let writing: Promise<void> = Promise.resolve()
  const write = async (rows: readonly Claimed[]): Promise<void> => {
    for (let at = 0; at < rows.length; at += setting.finish) {
      const part = rows.slice(at, at + setting.finish)
      const done = await finisher.query<{ n: string }>({
        name: 'finish',
        text: 'SELECT finish($1, $2, $3, $4, $5) AS n',
        values: [
          part.map(({ id }) => id),
          part.map(({ seq }) => seq),
          part.map(({ token }) => token),
          part.map(() => 1),
          part.map(() => 'true').join('\x1e'),
        ],
      })
      state.ended += Number(done.rows[0]?.n)
    }
  }
  while (state.claimed < jobs) {
    const { rows } = await claimer.query<Claimed>({
      name: 'claim',
      text: 'SELECT * FROM claim($1, $2, $3, $4)',
      values: [instance, floor, setting.claim, kindIds],
    })
    if (rows.length === 0) {
      // Looks once more from the front, for rows that another session had locked.
      if (floor === '0') break
      floor = '0'
      continue
    }
    state.claims += 1
    state.claimed += rows.length
    floor = rows.at(-1)?.place ?? '0'
    await writing
    writing = write(rows)
  }
  await writing
}

const settings = given.setting.split(',')
const runs = settings
  .flatMap((name) => {
    const setting = SETTINGS[name]
    if (setting === undefined) throw new Error(`--setting: unknown setting "${name}"`)
    const isMixed = (setting.kinds ?? 1) > 1
    const layouts = given.only.split(',').filter((layout) => !isMixed || !OF_ONE_KIND.has(layout))
    return Array.from({ length: ROUNDS }, (_, round) =>
      layouts.map((layout) => ({ name, setting, layout, round })),
    )
  })
  .flat()
const found = new Map<string, Cost[]>()
try {
  for (const [at, { name, setting, layout, round }] of runs.entries()) {
    const jobs = setting.claim < FEW ? JOBS * SHARE_OF_FEW : JOBS
    const began = performance.now()
    const key = `${name.padEnd(14)} ${layout.padEnd(20)}`
    found.set(key, [...(found.get(key) ?? []), await measure(layout, setting, jobs)])
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    console.error(`[${at + 1}/${runs.length}] ${key} round ${round + 1}   ${seconds} s`)
  }
} finally {
  await server.stop()
}
for (const [key, costs] of found) {
  const of = (one: keyof Cost): number => median(costs.map((cost) => cost[one]))
  const each = costs.map(({ cpu }) => cpu.toFixed(1)).join(' ')
  console.log(
    `${key} jobs/s ${of('rate').toFixed(0)}  server µs ${of('cpu').toFixed(1)} (${each})  WAL ${of('wal').toFixed(0)}` +
      `  rows ${of('rows').toFixed(2)}  index entries ${of('entries').toFixed(2)}  jobs per claim ${of('perClaim').toFixed(0)}`,
  )
}
