/**
 * Cached ids of queues and kinds when the database is restored, replaced or emptied: every verb acts on the
 * right name.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { ON_DEAD_QUEUE, onDeadJob, onDeadKind } from '../../src/job/attempt/on-dead.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import {
  aClaim,
  aDefinition,
  aDirectDispatch,
  aJob,
  anInstance,
  aTick,
  someJobs,
} from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'names')
let now = Date.now()
/** The process whose cache is tested, and one that opens after the change. */
const store = postgres(url, { schema, notifier: false, clock: () => now })
const fresh = (): typeof store => postgres(url, { schema, notifier: false, clock: () => now })
const client = new pg.Client({ connectionString: `${url}?options=-csearch_path%3D${schema}` })

beforeAll(async () => {
  await store.open()
  await client.connect()
})
afterAll(async () => {
  await store.close()
  await client.end()
})

const MINE = { queue: 'mail', kind: 'young' }
const OTHER = { queue: 'danger', kind: 'wipe' }
const sql = (text: string): Promise<unknown> => client.query(text)

/**
 * The effect of a restore: other ids, and another history of versions. Triggers do not run while a backup is
 * loaded.
 */
const restored = (change: string): Promise<unknown> =>
  sql(`BEGIN; SET LOCAL session_replication_role = replica; ${change};
       DELETE FROM names; INSERT INTO names VALUES (1, gen_random_uuid()); COMMIT`)

const swap = (table: string, a: string, b: string): string =>
  `UPDATE ${table} SET name = 'between' WHERE name = '${a}'; UPDATE ${table} SET name = '${a}' WHERE name = '${b}';
   UPDATE ${table} SET name = '${b}' WHERE name = 'between'`
const SWAP = `${swap('queue', 'mail', 'danger')}; ${swap('kind', 'young', 'wipe')}`
/** An older copy from before these names, in which other names have their ids. */
const REUSE = `UPDATE queue SET name = 'danger ' || gen_random_uuid() WHERE name = 'mail';
  UPDATE kind SET name = 'wipe ' || gen_random_uuid() WHERE name = 'young'`

const CHANGES: readonly [string, () => Promise<unknown>][] = [
  ['ids are swapped', () => restored(SWAP)],
  ['ids are missing', () => restored(`DELETE FROM queue; DELETE FROM kind`)],
  ['ids mean other names', () => restored(REUSE)],
  ['both tables are truncated', () => restored('TRUNCATE queue, kind RESTART IDENTITY')],
]

interface Case {
  readonly change: () => Promise<unknown>
  readonly me: string
  readonly lease: () => Promise<Lease>
}

/** Each enqueues jobs of MINE after the change, and returns them. */
const WRITES: Readonly<Record<string, (one: Case) => Promise<readonly { readonly id: string }[]>>> = {
  'one job': (one) => enqueued(one, [{}]),
  'many alike': (one) => enqueued(one, [{}, {}, {}]),
  'many with tags': (one) => enqueued(one, [{ tags: ['a'] }, {}]),
  'with a delay': (one) => enqueued(one, [{ delay: 60_000 }]),
  'with an order key': (one) => enqueued(one, [{ orderKey: 'o' }]),
  'with a dedupe key': (one) => enqueued(one, [{ dedupe: { key: 'k' } }]),
  'with a dedupe key to replace': (one) => enqueued(one, [{ dedupe: { key: 'k', onConflict: 'replace' } }]),
  'an id that may exist': (one) => enqueued(one, [{}], (jobs) => store.enqueue(jobs, { mayRepeat: true })),
  'direct dispatch of one': (one) => enqueued(one, [{}], (jobs) => dispatched(one, jobs)),
  'direct dispatch of many': (one) => enqueued(one, [{ tags: ['a'] }, {}], (jobs) => dispatched(one, jobs)),
  'direct dispatch among others': (one) =>
    enqueued(one, [{}, { delay: 60_000 }, { dedupe: { key: 'k' } }], (jobs) => dispatched(one, jobs)),
  'in a transaction': (one) => enqueued(one, [{}, { dedupe: { key: 'k' } }], inTransaction('READ COMMITTED')),
  'in a repeatable transaction': (one) => enqueued(one, [{}], inTransaction('REPEATABLE READ')),
  async 'follow-ups of a finish'(one) {
    const lease = await one.lease()
    return enqueued(one, [{}], (followUps) => store.finish([done(lease, followUps)]))
  },
  async 'follow-ups of a finish in a transaction'(one) {
    const lease = await one.lease()
    return enqueued(one, [{}], async (followUps) => {
      await sql('BEGIN')
      await store.finish([done(lease, followUps)], { tx: client })
      await sql('COMMIT')
    })
  },
  'a tick': (one) =>
    enqueued(one, [{}], async ([job]) => {
      await store.schedules.create('s', aDefinition())
      await store.schedules.tick([aTick('s', { nextAt: now })])
      if (job === undefined) throw new Error('there is one')
      const [ticked] = await store.schedules.tick([aTick('s', { from: now, fires: [{ at: now, job }] })])
      expect(ticked?.accepted).toBe(true)
    }),
  'a transfer from another store': (one) =>
    enqueued(one, [{}], async (jobs) => {
      const kept = {
        crashes: 0,
        attempt: 0,
        dueAt: null,
        endedAt: null,
        enqueuedAt: now,
        waitsForOrder: false,
        waitsForGroup: false,
      }
      const rest = {
        dedupeKey: null,
        holdMs: 0,
        holdAfter: 'done',
        readyAt: now,
        hasOrderLock: false,
        hasPassed: false,
        group: null,
      } as const
      const transferred = jobs.map((job, place) => ({
        ...job,
        ...kept,
        ...rest,
        minVersion: null,
        place,
        state: 'ready' as const,
        result: null,
        attempts: [],
        steps: [],
        events: [],
        children: [],
        isChild: false,
      }))
      await store.tools.importItems('jobs', transferred)
    }),
}

async function enqueued(
  { change }: Case,
  requests: Parameters<typeof someJobs>[0],
  write: (jobs: readonly NewJob[]) => Promise<unknown> = (jobs) => store.enqueue(jobs),
): Promise<readonly NewJob[]> {
  const jobs = someJobs(requests.map((request) => ({ ...request, ...MINE })))
  await change()
  await write(jobs)
  return jobs
}

const dispatched = async ({ me }: Case, jobs: readonly NewJob[]): Promise<void> => {
  const directDispatch = aDirectDispatch(me, {
    queues: [{ queue: MINE.queue, room: 9 }],
    kinds: [MINE.kind, OTHER.kind],
  })
  for (const { lease } of await store.enqueue(jobs, { directDispatch }))
    if (lease !== undefined) expect(lease).toMatchObject(MINE)
}

const inTransaction =
  (level: string) =>
  async (jobs: readonly NewJob[]): Promise<void> => {
    await sql(`BEGIN ISOLATION LEVEL ${level}; SELECT 1 FROM names`)
    await store.enqueue(jobs, { tx: client })
    await sql('COMMIT')
  }

const done = ({ id, token }: Lease, followUps: readonly NewJob[] = []): Finish => ({
  id,
  token,
  outcome: 'returned',
  transition: { to: 'done', result: null },
  followUps,
})

const TABLES_OF_JOBS =
  `job, job_tag, ready, running, later, order_queue, order_check, order_lock, dedupe, attempt, instance, schedule, tick`.split(
    ', ',
  )

/** Removes the jobs, and fills the cache of `store` with all names. */
async function warm(change: Case['change']): Promise<Case> {
  await sql(TABLES_OF_JOBS.map((table) => `DELETE FROM ${table}`).join('; '))
  const kinds = [MINE.kind, OTHER.kind]
  const me = anInstance({ leaseMs: 3_600_000, queues: [MINE.queue, OTHER.queue], kinds })
  await store.instances.register(me)
  const jobs = someJobs([MINE, OTHER])
  await store.enqueue(jobs)
  const lease = async (): Promise<Lease> => {
    const [first] = await store.claim(aClaim(me.id, { queues: [{ queue: MINE.queue, room: 1 }], kinds }))
    if (first === undefined) throw new Error('there is one ready')
    return first
  }
  const leases = await store.claim(aClaim(me.id, { queues: queuesWithRoom(), kinds }))
  await store.finish(leases.map((one) => done(one)))
  await store.enqueue(someJobs([MINE]))
  return { change, me: me.id, lease }
}

const queuesWithRoom = (): { queue: string; room: number }[] =>
  [MINE, OTHER].map(({ queue }) => ({ queue, room: 9 }))

/** Reads the database by joins, without any of our code. */
async function inDatabase(ids: readonly string[]): Promise<unknown[]> {
  const { rows } = await client.query<object>(
    `SELECT q.name AS queue, k.name AS kind FROM unnest($1::uuid[]) WITH ORDINALITY AS v(id, place)
       LEFT JOIN job AS j ON j.id = v.id
       LEFT JOIN queue AS q ON q.id = j.queue_id LEFT JOIN kind AS k ON k.id = j.kind_id ORDER BY v.place`,
    [ids],
  )
  return rows
}

/**
 * A process that starts after the change writes jobs of both names; returns what `read` says of that of MINE.
 */
async function written(one: Case, request: object = {}): Promise<string> {
  await one.change()
  await sql('DELETE FROM ready; DELETE FROM later; DELETE FROM running')
  const late = fresh()
  await late.open()
  const [mine, other] = someJobs([
    { ...request, ...MINE },
    { ...request, ...OTHER },
  ])
  if (mine === undefined || other === undefined) throw new Error('there are two')
  await late.enqueue([mine, other])
  await late.close()
  return mine.id
}

/** Each returns the names that `store` gives for a job of MINE. */
const READS: Readonly<Record<string, (one: Case) => Promise<unknown>>> = {
  async get(one) {
    const [job] = await store.get([await written(one)])
    return { queue: job?.queue, kind: job?.kind }
  },
  async list(one) {
    const id = await written(one)
    const { jobs } = await store.list({ state: 'ready' }, { limit: 10 })
    const job = jobs.find((each) => each.id === id)
    return { queue: job?.queue, kind: job?.kind }
  },
  async claim(one) {
    const id = await written(one)
    return leaseOf(
      id,
      await store.claim(aClaim(one.me, { queues: queuesWithRoom(), kinds: ['wipe', 'young'] })),
    )
  },
  async 'claim of one kind'(one) {
    await written(one)
    const [lease] = await store.claim(aClaim(one.me, { queues: queuesWithRoom(), kinds: ['young'] }))
    return { queue: lease?.queue, kind: lease?.kind }
  },
  async 'claim of quarantined jobs'(one) {
    const id = await written(one)
    await sql(`UPDATE ready SET crashes = 3 WHERE id = '${id}'`)
    const request = aClaim(one.me, {
      queues: queuesWithRoom(),
      kinds: ['wipe', 'young'],
      quarantined: 'only',
    })
    return leaseOf(id, await store.claim(request))
  },
  async stage(one) {
    const id = await written(one, { delay: 10 })
    await sql(`DELETE FROM later WHERE id <> '${id}'`)
    now += 1_000
    const { queues } = await store.stage(10)
    return { queue: queues[0], kind: MINE.kind }
  },
  async 'reap and its follow-up'(one) {
    const kinds = ['young', 'wipe']
    await one.change()
    const late = fresh()
    await late.open()
    const lost = anInstance({ leaseMs: 1_000, queues: [MINE.queue], kinds, onDead: kinds })
    await late.instances.register(lost)
    const job = aJob(MINE)
    const ordered = aJob({ ...MINE, orderKey: job.id })
    await late.enqueue([job, ordered])
    await late.stage(10)
    await sql(`DELETE FROM ready WHERE id NOT IN ('${job.id}', '${ordered.id}')`)
    await late.claim(aClaim(lost.id, { queues: queuesWithRoom(), kinds }))
    await late.close()
    now += 2_000
    const { jobs } = await store.instances.reap({ crashesUntilDead: 1, limit: 10 })
    const [reaped] = jobs.filter(({ id }) => id === job.id)
    const followUps = [job, ordered].map((dead) => onDeadJob({ ...dead, error: '', at: now }).id)
    const kind = onDeadKind(MINE.kind)
    expect(await inDatabase(followUps)).toEqual([
      { queue: ON_DEAD_QUEUE, kind },
      { queue: MINE.queue, kind },
    ])
    return { queue: reaped?.queue, kind: reaped?.kind }
  },
}

const leaseOf = (id: string, leases: readonly Lease[]): unknown => {
  const lease = leases.find((each) => each.id === id)
  return { queue: lease?.queue, kind: lease?.kind }
}

describe('D2 the name ids change under an open store', () => {
  test.each(CHANGES.filter((_, at) => inFull(true, at % 2 === 0)))(
    '%s: every verb that writes jobs writes the right names',
    async (_, change) => {
      for (const [verb, write] of Object.entries(WRITES)) {
        const jobs = await write(await warm(change))
        expect({ verb, names: await inDatabase(jobs.map(({ id }) => id)) }).toEqual({
          verb,
          names: jobs.map(() => MINE),
        })
      }
    },
  )

  test.each(CHANGES.filter((_, at) => inFull(true, at % 2 === 1)))(
    '%s: every verb that returns jobs returns the right names',
    async (_, change) => {
      for (const [verb, read] of Object.entries(READS)) {
        expect({ verb, names: await read(await warm(change)) }).toEqual({ verb, names: MINE })
      }
    },
  )
})
