// A running mill on a PostgreSQL server that restarts, crashes and drops its connections. The mill recovers
// on its own, in real time.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../../test/support/postgres/postgres-server.ts'
import {
  defineJob,
  type EnqueuedJob,
  isJobmillError,
  type JobContext,
  jobmill,
  type Mill,
} from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ binaries: 'current' })
})
afterAll(() => server.stop())

const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<number>) => payload })

/** A started mill. `well` resolves when every part that reported a failure has reported its recovery. */
async function started(schema: string): Promise<{ readonly mill: Mill; readonly well: () => Promise<void> }> {
  // Longer than a server restart takes on a busy machine: no other instance would take over the jobs.
  const lease = '1m'
  const mill = jobmill({ store: postgres(server.url, { schema }), jobs: [echo], log: 'silent', lease })
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  const failing = new Set<string>()
  mill.on('store-failing', ({ part }) => failing.add(part))
  mill.on('store-back', ({ part }) => failing.delete(part))
  await mill.start()
  const well = (): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => (failing.size === 0 ? resolve() : undefined)
      mill.on('store-back', look)
      look()
    })
  return { mill, well }
}

/** Enqueues jobs one by one until the test stops it, and records those that were acknowledged. */
function producer(mill: Mill) {
  const acknowledged: EnqueuedJob<number>[] = []
  const waiting = new Set<{ readonly count: number; readonly resolve: () => void }>()
  const over = new AbortController()
  async function produce(): Promise<void> {
    for (let n = 0; !over.signal.aborted; n += 1) {
      try {
        acknowledged.push(await mill.enqueue(echo, n))
      } catch (error) {
        if (!isJobmillError(error) || !error.retryable) throw error
      }
      for (const one of waiting) if (acknowledged.length >= one.count) one.resolve()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const producing = produce()
  return {
    /** Resolves after `count` more acknowledged jobs. */
    more: (count: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add({ count: acknowledged.length + count, resolve })
      return promise
    },
    end: async (): Promise<EnqueuedJob<number>[]> => {
      over.abort()
      await producing
      return acknowledged
    },
  }
}

async function dropConnections(): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'jobmill%'`,
  )
  await client.end()
}

const TROUBLES: Readonly<Record<string, () => Promise<void>>> = {
  'after its server restarted': () => server.restart(),
  'after its server crashed and restarted': async () => {
    await server.kill()
    await server.restart()
  },
  'after the server ended all its connections repeatedly': async () => {
    for (let times = 0; times < 5; times += 1) await dropConnections()
  },
}

describe('postgres: a working mill', () => {
  test.each(Object.entries(TROUBLES))(
    'P3 P16 recovers on its own %s: every acknowledged job is done',
    async (name, makeTrouble) => {
      const { mill, well } = await started(`mill_${name.replaceAll(/\W/g, '_').slice(0, 30)}`)
      const { more, end } = producer(mill)
      await more(50)
      // The producer keeps enqueuing during the outage.
      await makeTrouble()
      await more(50)
      const jobs = await end()
      const results = await Promise.all(jobs.map((job) => job.result({ timeout: '45s' })))
      expect(results.every((result) => typeof result === 'number')).toBe(true)
      for (const { id } of jobs) expect(await mill.get(id)).toMatchObject({ state: 'done', crashes: 0 })
      // New jobs run without intervention, and every part that failed has reported its recovery.
      expect(await (await mill.enqueue(echo, -1)).result({ timeout: '45s' })).toBe(-1)
      await well()
    },
    60_000,
  )
})
