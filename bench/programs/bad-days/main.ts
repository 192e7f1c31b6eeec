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
import { parseArgs } from 'node:util'
import { startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { DAYS, type TrafficName } from './days.ts'
import { type Measured, measure } from './measure.ts'
import { failures, textOf } from './verdict.ts'

const { values: given } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    traffic: { type: 'string', default: '' },
  },
})
const only = given.only === '' ? null : new Set(['good', ...given.only.split(',')])
const unknown = [...(only ?? [])].filter((name) => !DAYS.some((day) => day.name === name))
if (unknown.length > 0) throw new Error(`--only: unknown day "${unknown.join(', ')}"`)
console.log('pages and time of the server: per job for claim, finish and enqueue, per call for the others')

const server = await startPostgres({
  binaries: 'current',
  settings: {
    shared_preload_libraries: 'pg_stat_statements',
    // A run takes a minute where a bad day takes an hour, so autovacuum looks more often.
    autovacuum_naptime: '1s',
    max_wal_size: '4GB',
  },
})
const good = new Map<TrafficName, Measured>()
try {
  for (const day of DAYS) {
    if (only !== null && !only.has(day.name)) continue
    if (given.traffic !== '' && !given.traffic.split(',').includes(day.traffic)) continue
    const measured = await measure(day, server.url, Number(given.scale))
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
