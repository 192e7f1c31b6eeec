// Target 5: a claim with very many waiting jobs costs as much as with a thousand. Counted in pages and
// plans; `npm run bench:million` measures times.
import Database from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, inject, test, vi } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { fillPostgres, fillSqlite } from '../../../../test/support/fill.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance } from '../../../conformance/src/index.ts'

// A twentieth in every run, all every night: filling the tables takes most of the time.
const MANY = Number(process.env['JOBMILL_MANY'] ?? 50_000)
const STATES = ['scheduled', 'ready'] as const

/** Creates the queue and the kind with a job that is then removed. */
async function claimer(store: FullStore): Promise<() => Promise<number>> {
  await store.open()
  const job = aJob({ queue: 'full', kind: 'known' })
  await store.enqueue([job])
  await store.delete([job.id])
  const instance = anInstance({ queues: ['full'], kinds: ['known'], leaseMs: 600_000 })
  await store.instances.register(instance)
  const request = aClaim(instance.id, { queues: [{ queue: 'full', room: 10 }], kinds: ['known'], limit: 10 })
  return async () => (await store.claim(request)).length
}

/** Pages that the server reads for the statements of one claim, which are rolled back. */
async function pagesOfClaim(url: string, claim: () => Promise<number>): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  await claim()
  const sent = spy.mock.calls.map(([config]) => config as unknown as { text: string; values: unknown[] })
  spy.mockRestore()
  const statements = sent.filter(({ text }) => /FROM \S+\.claim\(/.test(text ?? ''))
  expect(statements).not.toHaveLength(0)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let pages = 0
    for (const { text, values } of statements) {
      await client.query('BEGIN')
      const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      )
      await client.query('ROLLBACK')
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {}
      pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
    }
    return pages
  } finally {
    await client.end()
  }
}

describe('a million jobs on postgres', () => {
  test.each(STATES)(
    'P15 target 5: a claim reads as few pages with 1,000,000 jobs %s as with 1,000',
    async (state) => {
      const url = inject('postgresUrl')
      const pages: number[] = []
      for (const jobs of [1_000, MANY]) {
        const schema = freshSchema(url, 'million')
        const store = postgres(url, { schema, notifier: false })
        try {
          const claim = await claimer(store)
          await fillPostgres(url, schema, jobs, state)
          expect(await claim()).toBe(state === 'ready' ? 10 : 0)
          pages.push(await pagesOfClaim(url, claim))
        } finally {
          await store.close()
        }
      }
      const [few = 0, many = Number.POSITIVE_INFINITY] = pages
      // An index with a thousand times as many rows is a level or two deeper.
      expect(many).toBeLessThanOrEqual(few * 2 + 20)
    },
    120_000,
  )
})

describe('a million jobs on sqlite', () => {
  test.each(STATES)(
    'P15 target 5: a claim uses indexes that hold only what it reads, with 1,000,000 jobs %s',
    async (state) => {
      const path = freshFile()
      const store = sqlite(path)
      const spy = vi.spyOn(Database.prototype, 'prepare')
      try {
        const claim = await claimer(store)
        fillSqlite(path, MANY, state)
        expect(await claim()).toBe(state === 'ready' ? 10 : 0)
        const statements = spy.mock.calls.map(([text]) => text).filter((text) => text.includes('jobmill_job'))
        spy.mockRestore()
        const database = new Database(path, { readonly: true })
        const plans = statements
          .filter((text) => /^\s*(?:SELECT|UPDATE)/.test(text))
          .flatMap(
            (text) =>
              database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...nulls(text)) as { detail: string }[],
          )
        database.close()
        expect(plans.filter(({ detail }) => /^SCAN (?:jobmill_job|j)\b/.test(detail))).toEqual([])
        // With nothing ready it reads no job.
        const isByIndex = plans.some(({ detail }) => detail.includes('jobmill_job_ready'))
        expect(isByIndex || state === 'scheduled').toBe(true)
      } finally {
        spy.mockRestore()
        await store.close()
      }
    },
    120_000,
  )
})

function nulls(text: string): null[] {
  return Array.from(text.matchAll(/\?/g), () => null)
}
