/**
 * A mill in a separate process whose start waits for the database. It sends `starting`, and `rejected CODE`
 * when the start ends.
 */
import { defineJob, jobmill, stopOnSignals } from '../../src/index.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'

export interface OpeningProcess {
  readonly store: 'postgres' | 'sqlite'
  readonly at: string
}

const { store, at } = JSON.parse(process.argv[2] ?? '{}') as OpeningProcess
const mill = jobmill({
  // Only the stop ends the start: all other deadlines are far away.
  store: store === 'postgres' ? postgres(at, { deadline: '1h' }) : sqlite(at, { busyDeadline: '1h' }),
  jobs: [defineJob({ kind: 'never', run: () => null })],
  log: 'silent',
  grace: '200ms',
})
stopOnSignals(mill)
mill.start().catch((error: unknown) => {
  process.send?.(`rejected ${isJobmillError(error) ? error.code : String(error)}`)
})
process.send?.('starting')
