/**
 * One run on one store: all senders and consumers in parallel, while the sweep deletes acknowledged files.
 */
import { loadavg } from 'node:os'
import type { Closers } from '../closing.ts'
import { examine } from './examine.ts'
import { type Pace, round } from './pace.ts'
import { requestsTo } from './requests.ts'
import { newRun, type Size, WAIT_SECONDS } from './run.ts'
import { type Place, startServer } from './start-server.ts'

export interface LoadReport {
  readonly name: string
  readonly files: number
  readonly mailboxes: number
  readonly gigabytes: number
  readonly seconds: number
  /** The pace of requests, which have one to four files. */
  readonly upload: Pace
  readonly fetch: Pace
  readonly ack: Pace
  /** Resident memory of the server: the median and the maximum. Null if the system does not report it. */
  readonly memory: { readonly medianMb: number; readonly mostMb: number } | null
  /** The load average of the machine during the run, because other programs may be running. */
  readonly loadAverage: number
  readonly wrong: readonly string[]
}

const SHOW_MS = 5_000
const SAMPLE_MS = 250

export async function load(place: Place, size: Size, closing: Closers): Promise<LoadReport> {
  const server = await startServer(place, size.mailboxes)
  closing.add(server.stop)
  const requests = requestsTo(server.url, WAIT_SECONDS)
  closing.add(async () => requests.close())
  const run = newRun(server, requests, size)
  const samples: number[] = []
  const sampling = setInterval(() => samples.push(server.memory()?.now ?? 0), SAMPLE_MS)
  const averages = [loadavg()[0] ?? 0]
  const showing = setInterval(() => {
    averages.push(loadavg()[0] ?? 0)
    console.log(`  ${place.name}: ${run.state()}`)
  }, SHOW_MS)
  closing.add(async () => {
    clearInterval(sampling)
    clearInterval(showing)
  })
  const startedAt = performance.now()
  await Promise.all([run.send(), ...server.mailboxes.map((mailbox) => run.consume(mailbox))])
  const ms = performance.now() - startedAt
  const memory = server.memory()
  clearInterval(sampling)
  clearInterval(showing)
  console.log(`  ${place.name}: ${run.state()}; looking at what is left`)
  const wrong = [...run.wrong, ...(await examine(server, size, place))]
  await server.stop()
  samples.sort((a, b) => a - b)
  return {
    ...size,
    name: place.name,
    gigabytes: Math.round(run.bytes() / 1e7) / 100,
    seconds: Math.round(ms / 1_000),
    upload: run.times.upload.pace(run.bytes()),
    fetch: run.times.fetch.pace(run.fetched()),
    ack: run.times.ack.pace(),
    memory:
      memory === null
        ? null
        : { medianMb: samples[Math.floor(samples.length / 2)] ?? 0, mostMb: memory.most },
    loadAverage: round(averages.reduce((sum, one) => sum + one, 0) / averages.length),
    wrong,
  }
}
