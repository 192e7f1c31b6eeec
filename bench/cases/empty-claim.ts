// Case h: measures an empty claim, and a search for due jobs, behind a million jobs and behind a thousand. It
// uses the store contract of Jobmill, since no peer has a call for a single claim. The jobs in front are
// deferred for years, of a kind without a handler, or in a paused queue.
//
// On PostgreSQL a figure is the number of pages touched per call, which noise cannot change. SQLite does not
// count pages, so there it is the median time. `h-few` is `h` with 1,000 jobs; likewise for h-stage,
// h-foreign and h-paused.
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FullStore } from 'jobmill'
import { prepareQueueChange } from 'jobmill/internal'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { aClaim, aJob, anInstance } from 'jobmill-conformance'
import type pg from 'pg'
import { fillPostgres, fillSqlite } from '../../test/support/fill.ts'
import type { Case, Cell, Figure } from '../case.ts'

const FEW = 1_000
/** Page counts are the same in every call; times vary and need more calls. */
const CALLS = { pages: 50, times: 500 }
/** A store may learn in its first calls which rows to skip. */
const WARM_UP = 5
/** The same limit that the runtime uses. */
const STAGE_LIMIT = 1_000

type Verb = 'claim' | 'stage'

interface Situation {
  readonly name: string
  readonly state: 'scheduled' | 'ready'
  readonly paused: boolean
  /** The kind that the claimer has a handler for. The jobs in front are of the kind `known`. */
  readonly kind: string
  /** Keyed by the name of the figure. */
  readonly verbs: Readonly<Record<string, Verb>>
}

const SITUATIONS: readonly Situation[] = [
  {
    name: 'deferred',
    state: 'scheduled',
    paused: false,
    kind: 'known',
    verbs: { h: 'claim', 'h-stage': 'stage' },
  },
  { name: 'foreign', state: 'ready', paused: false, kind: 'other', verbs: { 'h-foreign': 'claim' } },
  { name: 'paused', state: 'ready', paused: true, kind: 'known', verbs: { 'h-paused': 'claim' } },
]

export const emptyClaimCase: Case = {
  names: ['h'],
  async run(cell) {
    if (cell.system.name !== 'jobmill')
      throw new Error('only the stores of Jobmill have a call for a single claim')
    const measure = cell.place.store === 'sqlite' ? inTime(cell) : inPages(cell, await cell.admin())
    const figures: Figure[] = []
    for (const situation of SITUATIONS) figures.push(...(await measure(situation)))
    return figures
  },
}

type Measure = (situation: Situation) => Promise<Figure[]>

function inPages({ place, jobs }: Cell, admin: pg.Client): Measure {
  return async (situation) => {
    const figures: Figure[] = []
    for (const [count, suffix] of [[FEW, '-few'] as const, [jobs, ''] as const]) {
      const schema = `${situation.name}_${count}`
      const open = (): FullStore => postgres(place.url, { schema, notifier: false })
      await prepare(open(), situation, () => fillPostgres(place.url, schema, count, situation.state))
      for (const [name, verb] of Object.entries(situation.verbs)) {
        const pages = async (calls: number): Promise<number> => {
          const before = await pagesTouched(admin, schema)
          await withCalls(open(), situation.kind, verb, calls)
          return (await pagesTouched(admin, schema)) - before
        }
        // Subtract the pages touched by opening, warming up and closing.
        const around = await pages(WARM_UP)
        const value = ((await pages(WARM_UP + CALLS.pages)) - around) / CALLS.pages
        figures.push({ case: `${name}${suffix}`, unit: 'pages', value })
      }
    }
    return figures
  }
}

const TOUCHED = `
  SELECT sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)) AS n
  FROM pg_statio_all_tables WHERE schemaname = $1`
const SESSIONS = `
  SELECT count(*)::int4 AS n FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

/**
 * A session reports its counters when it ends, so wait until the other sessions of this database are gone.
 */
async function pagesTouched(admin: pg.Client, schema: string): Promise<number> {
  const ask = async (sql: string, values: string[] = []): Promise<number> =>
    Number((await admin.query<{ n: string }>(sql, values)).rows[0]?.n)
  while ((await ask(SESSIONS)) > 0) await sleep(5)
  return ask(TOUCHED, [schema])
}

function inTime({ place, jobs }: Cell): Measure {
  return async (situation) => {
    const files = [FEW, jobs].map((count) => path.join(place.folder, `${situation.name}-${count}.db`))
    for (const [at, file] of files.entries())
      await prepare(sqlite(file), situation, async () =>
        fillSqlite(file, [FEW, jobs][at] ?? 0, situation.state),
      )
    const figures: Figure[] = []
    for (const [name, verb] of Object.entries(situation.verbs)) {
      const [few, many] = await medians(files, situation.kind, verb)
      figures.push({ case: name, unit: 'ms', value: many }, { case: `${name}-few`, unit: 'ms', value: few })
    }
    return figures
  }
}

/** Interleaves the calls, so that noise affects all files equally. */
async function medians(files: readonly string[], kind: string, verb: Verb): Promise<[number, number]> {
  const opened = await Promise.all(
    files.map(async (file) => {
      const store = sqlite(file)
      return { store, call: await caller(store, kind, verb), times: [] as number[] }
    }),
  )
  for (let n = 0; n < CALLS.times; n += 1) {
    for (const { call, times } of opened) {
      const began = performance.now()
      await call()
      times.push(performance.now() - began)
    }
  }
  for (const { store } of opened) await store.close()
  const [few = Number.NaN, many = Number.NaN] = opened.map(({ times }) => median(times))
  return [few, many]
}

/** Creates the queue and the kinds with jobs that are then removed, and fills the queue. */
async function prepare(
  store: FullStore,
  { paused, kind }: Situation,
  fill: () => Promise<void>,
): Promise<void> {
  await store.open()
  const jobs = ['known', kind].map((one) => aJob({ queue: 'full', kind: one }))
  await store.enqueue(jobs)
  await store.delete(jobs.map(({ id }) => id))
  if (paused) await store.queues.change('full', prepareQueueChange({ paused }))
  await store.close()
  await fill()
}

async function withCalls(store: FullStore, kind: string, verb: Verb, calls: number): Promise<void> {
  const call = await caller(store, kind, verb)
  for (let n = 0; n < calls; n += 1) await call()
  await store.close()
}

/** Opens the store and returns the call to measure, which must find nothing. */
async function caller(store: FullStore, kind: string, verb: Verb): Promise<() => Promise<void>> {
  await store.open()
  const instance = anInstance({ queues: ['full'], kinds: [kind], leaseMs: 600_000 })
  await store.instances.register(instance)
  const request = aClaim(instance.id, { queues: [{ queue: 'full', room: 10 }], kinds: [kind], limit: 10 })
  return async () => {
    const claimed =
      verb === 'claim' ? (await store.claim(request)).length : (await store.stage(STAGE_LIMIT)).ready
    if (claimed > 0) throw new Error(`expected an empty claim, got ${claimed} jobs`)
  }
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}
