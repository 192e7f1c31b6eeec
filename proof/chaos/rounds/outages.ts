/**
 * Repeated database outages, longer than a lease, while healthy processes run long jobs. No process crashes,
 * so no crash may be counted.
 */
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { jobmill, type Mill } from 'jobmill'
import { startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { nowMs } from '../../cluster/clock.ts'
import { allEnded } from '../../cluster/verdict/in-store.ts'
import { storeAt } from '../../cluster/places.ts'
import { type Call, calls } from '../crew/calls.ts'
import { crew as createCrew } from '../crew/crew.ts'
import { proxy as createProxy } from '../proxy.ts'
import type { RoundOptions, RoundResult } from './round.ts'

const NAME = 'outages'
const LONG = { kind: 'long', queue: 'long' }
const PROCESSES = 5
const JOBS = 10
const END_MS = 90_000
/** A port without a listener. */
const NOWHERE = 1

export interface OutageTimes {
  readonly lease: string
  readonly outages: number
  readonly outageMs: number
  readonly betweenMs: number
  readonly jobMs: number
}

/** Jobs are longer than the time between two outages, so that none ends before the last one. */
export const QUICK_OUTAGES: OutageTimes = {
  lease: '3s',
  outages: 5,
  outageMs: 4_500,
  betweenMs: 2_500,
  jobMs: 6_000,
}
export const LONG_OUTAGES: OutageTimes = {
  lease: '10s',
  outages: 5,
  outageMs: 13_000,
  betweenMs: 6_000,
  jobMs: 15_000,
}

export async function outages(
  options: Omit<RoundOptions, 'nemeses' | 'chance' | 'rate'>,
  times: OutageTimes,
): Promise<RoundResult> {
  const { store, folder, closing, signal } = options
  mkdirSync(folder, { recursive: true })
  const server = await startPostgres({ binaries: 'current' })
  closing(() => server.stop())
  const proxy = await createProxy(server.port)
  closing(() => proxy.close())
  const place = { store, at: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) }
  const crew = createCrew(folder, place, times.lease)
  closing(crew.destroy)
  await Promise.all(Array.from({ length: PROCESSES }, () => crew.start([LONG])))
  // Bypasses the proxy, so that it can always read the store.
  const mill = jobmill({ store: await storeAt({ store, at: server.url }), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  console.log(`\n${NAME} on ${store}: ${times.outages} times ${times.outageMs / 1_000} s`)
  const sent = calls()
  for (let n = 0; n < JOBS; n += 1) await sent.send(mill, LONG, { ms: times.jobMs })
  for (let n = 0; n < times.outages; n += 1) {
    await sleep(times.betweenMs)
    // Connections are refused, so that processes reconnect one by one.
    proxy.pointTo(NOWHERE)
    proxy.cut()
    await sleep(times.outageMs)
    proxy.pointTo(server.port)
  }
  const overAt = nowMs()
  await sleep(1_000)
  const crashes = await crashesOf(mill, sent.all)
  const blamed = crashes.filter((count) => count >= QUARANTINED_AT).length
  const isEnded = await allEnded(mill, END_MS, signal)
  const recoverySeconds = isEnded ? Number(((nowMs() - overAt) / 1_000).toFixed(2)) : null
  const counts = (await mill.counts()).find(({ queue }) => queue === LONG.queue)
  const [dead, done] = [counts?.dead ?? 0, counts?.done ?? 0]
  const sentences: [boolean, string][] = [
    [dead > 0, `dead: ${dead} of ${JOBS} jobs died during ${NAME}, although no process crashed`],
    [blamed > 0, `quarantined: ${blamed} of ${JOBS} jobs during ${NAME}, although no process crashed`],
    [!isEnded, `not ended: jobs are still open ${END_MS / 1_000} s after ${NAME}`],
    [done + dead < JOBS, `lost: ${JOBS - done - dead} jobs were not done after ${NAME}`],
  ]
  console.log(
    `${NAME}: ${done} of ${JOBS} done, ${dead} dead, ${blamed} quarantined, crashes ${crashes.join(' ')}, all done after ${recoverySeconds} s`,
  )
  return {
    struck: [{ name: NAME, store, injected: times.outages, recoverySeconds }],
    broken: sentences.flatMap(([isBroken, sentence]) => (isBroken ? [`${sentence}.`] : [])),
    lost: Math.max(0, JOBS - done - dead),
    acknowledged: JOBS,
    finished: done,
    staleWritesRefused: 0,
  }
}

/** A job with two crashes runs in quarantine. */
const QUARANTINED_AT = 2

async function crashesOf(mill: Mill, sent: readonly Call[]): Promise<number[]> {
  const jobs = await Promise.all(sent.map(({ id }) => mill.get(id ?? '')))
  return jobs.map((job) => job?.crashes ?? 0)
}
