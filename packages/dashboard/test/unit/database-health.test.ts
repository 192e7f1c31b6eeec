/** What the overview says about the database. */
import { expect, test } from 'vitest'
import { databaseFacts, databaseProblems } from '../../src/pages/overview/database-health.ts'

const percentiles = (p95: number | null) => ({ p50: p95, p95, p99: p95, count: 1 })
const storeTimings = {
  read: percentiles(1.24),
  write: percentiles(3_400),
  heartbeat: percentiles(null),
} as Parameters<typeof databaseFacts>[0]['storeTimings']
const pinned = { pid: 7, ageMs: 60_000, user: null, state: 'idle in transaction', query: null }
const database = { server: 'PostgreSQL 18.1', sizeBytes: 432_013_312, logBytes: null, tables: [], pinned: [] }
const migrations = { applied: [], pending: [], refused: null }
const connections = {
  name: 'Server connections',
  value: '14',
  note: 'of 100',
  isLow: false,
  values: [],
}

test('a database in order is described by its size, latency and connections', () => {
  expect(databaseProblems({ database, migrations }, [connections])).toEqual([])
  expect(databaseFacts({ store: 'postgres', database, storeTimings }, [connections])).toEqual([
    'PostgreSQL 18.1',
    '412 MiB',
    'reads p95 1 ms',
    'writes p95 3.4 s',
    'server connections 14 of 100',
  ])
  expect(databaseFacts({ store: 'memory', database: null, storeTimings }, [])).toEqual([
    'memory',
    'reads p95 1 ms',
    'writes p95 3.4 s',
  ])
})

test('sessions that hold back vacuum, migrations and used-up resources are problems', () => {
  const health = {
    database: { ...database, pinned: [pinned] },
    migrations: { ...migrations, pending: [{ number: 2, name: 'next' }] },
  }
  expect(databaseProblems(health, [{ ...connections, value: '97', isLow: true }])).toEqual([
    '1 session holds back vacuum',
    '1 pending migration',
    'server connections 97 of 100',
  ])
  expect(databaseProblems({ database: null, migrations: null }, [])).toEqual([])
})
