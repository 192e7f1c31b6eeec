/** One store from start to verdict. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Closers } from '../closing.ts'
import { postgresDatabase, type SoakDatabase, sqliteDatabase } from './databases.ts'
import { type Sample, shownFigure } from './verdict/figures.ts'
import type { StoreName } from './options.ts'
import type { Leak } from './planted.ts'
import type { Progress } from './messages.ts'
import { judge, type Verdict } from './verdict/verdict.ts'
import { visits, watchedMill } from './watched-mill.ts'

export interface SoakOptions {
  readonly store: StoreName
  readonly minutes: number
  readonly leaks: readonly Leak[]
  readonly folder: string
  readonly signal: AbortSignal
  readonly closing: Closers['add']
}

/** Enough samples for a slope, and few enough that sampling is not most of the load. */
const SAMPLES = 180
const SHORTEST_MS = 1_000
const TROUBLE_EVERY_MS = 7_000

export async function soak(options: SoakOptions): Promise<Verdict> {
  const { store, minutes, leaks, folder, closing } = options
  const database = store === 'sqlite' ? sqliteDatabase(folder) : await postgresDatabase()
  closing(database.close)
  const task = { place: database.place, leaks }
  const mill = await watchedMill(task)
  closing(mill.destroy)
  const over = new AbortController()
  const signal = AbortSignal.any([options.signal, over.signal])
  const guests = visits(task)
  const beside = Promise.all([guests.run(signal), troubleNowAndThen(database, signal)])
  closing(() => (over.abort(), beside))

  const samples: Sample[] = []
  const totalMs = minutes * 60_000
  const everyMs = Math.max(SHORTEST_MS, totalMs / SAMPLES)
  const beganAt = performance.now()
  for (let n = 1; n * everyMs <= totalMs; n += 1) {
    await sleep(Math.max(0, beganAt + n * everyMs - performance.now()), undefined, { signal: options.signal })
    const [{ sample, progress }, stored] = await Promise.all([mill.sample(), database.sample()])
    const { acknowledged } = progress.counts
    samples.push({ atMs: performance.now() - beganAt, acknowledged, ...sample, ...stored })
    show(store, samples.at(-1), progress)
  }
  over.abort()
  await beside
  const end = await mill.finish()
  return judge({ store, minutes, samples, visits: guests.count, end })
}

async function troubleNowAndThen(database: SoakDatabase, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(TROUBLE_EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    await database.trouble()
  }
}

function show(store: StoreName, sample: Sample | undefined, { counts, open }: Progress): void {
  if (sample === undefined) return
  const figures = (['heap', 'rss', 'rows', 'size'] as const).map(
    (figure) => `${figure} ${shownFigure(figure, sample[figure])}`,
  )
  const seconds = (sample.atMs / 1_000).toFixed(0).padStart(5)
  console.log(
    `${seconds} s  ${store.padEnd(8)}  ${figures.join(', ')}, jobs ${counts.acknowledged}, open ${open}`,
  )
}
