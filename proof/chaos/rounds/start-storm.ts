/** Many processes that start at the same time on an empty database. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { jobmill } from 'jobmill'
import { startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { nowMs } from '../../cluster/clock.ts'
import { allEnded } from '../../cluster/verdict/in-store.ts'
import { type Place, storeAt } from '../../cluster/places.ts'
import { stream } from '../../cluster/stream.ts'
import { workers as createWorkers } from '../../cluster/workers.ts'
import { START_STORM } from '../nemeses/all.ts'
import { judged, type RoundOptions, type RoundResult } from './round.ts'

const PROCESSES = 20
const STREAM_SECONDS = 2
const END_MS = 60_000

export async function startStorm(options: Omit<RoundOptions, 'nemeses' | 'chance'>): Promise<RoundResult> {
  const { store, folder, closing, signal, rate } = options
  mkdirSync(folder)
  const place = await emptyPlace(options)
  const workers = createWorkers({ folder, place, beats: true })
  closing(workers.destroy)
  console.log(
    `\n${PROCESSES} processes start at once on an empty ${store === 'sqlite' ? 'SQLite file' : 'database'}`,
  )
  const beganAt = nowMs()
  await Promise.all(Array.from({ length: PROCESSES }, () => workers.start()))
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  const startedAt = nowMs()
  const jobs = stream({ mill, seconds: STREAM_SECONDS, rate, lies: [] })
  await jobs.run(signal, () => true)
  await allEnded(mill, END_MS, signal)
  await mill.schedules.pause('beats')
  await allEnded(mill, END_MS, signal)
  const recoverySeconds = Number(((startedAt - beganAt) / 1_000).toFixed(2))
  console.log(`${START_STORM}: all were at work after ${recoverySeconds} s`)
  const stopped = await workers.stop()
  const struck = [{ name: START_STORM, store, injected: PROCESSES, recoverySeconds }]
  return judged({
    mill,
    workers,
    sent: jobs.sent,
    outages: [],
    stillnesses: [],
    struck,
    broken: stopped.broken,
    // These processes have no schedule.
    plannedUntil: 0,
  })
}

async function emptyPlace({
  store,
  folder,
  closing,
}: Pick<RoundOptions, 'store' | 'folder' | 'closing'>): Promise<Place> {
  if (store === 'sqlite') return { store, at: path.join(folder, 'jobs.db') }
  const server = await startPostgres({ binaries: 'current', settings: { fsync: 'on' } })
  closing(() => server.stop())
  return { store, at: server.url }
}
