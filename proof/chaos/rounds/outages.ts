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
import type { Chance } from '../../simulate/chance.ts'
import { proxy as createProxy } from '../proxy.ts'
import type { RoundOptions, RoundResult } from './round.ts'

const NAME = 'outages'
const LONG = { kind: 'long', queue: 'long' }
const JOBS_PER_PROCESS = 2
const END_MS = 90_000
/** A port without a listener. */
const NOWHERE = 1

/** What happens to the processes: `leaseMs` is their lease. */
export interface OutagePattern {
  readonly leaseMs: number
  readonly processes: number
  readonly outages: readonly { readonly afterMs: number; readonly ms: number }[]
  readonly jobMs: number
}

/** Many processes, and outages of one and a half leases: the pattern that once ended the most jobs. */
export function severeOutages(leaseMs: number): OutagePattern {
  const outages = Array.from({ length: 5 }, () => ({ afterMs: 0.8 * leaseMs, ms: 1.5 * leaseMs }))
  return { leaseMs, processes: 5, outages, jobMs: longerThan(outages) }
}

/** Shorter and longer than a lease and its grace, in any order. */
export function anyOutages(leaseMs: number, chance: Chance): OutagePattern {
  const outages = Array.from({ length: chance.whole(2, 5) }, () => ({
    afterMs: chance.between(0.3, 1.2) * leaseMs,
    ms: chance.between(0.4, 2.2) * leaseMs,
  }))
  return { leaseMs, processes: chance.whole(2, 6), outages, jobMs: longerThan(outages) }
}

/** Jobs are longer than the time between two outages, so that none ends before the last one. */
function longerThan(outages: OutagePattern['outages']): number {
  return 2.4 * Math.max(...outages.map(({ afterMs }) => afterMs))
}

export async function outages(
  options: Omit<RoundOptions, 'nemeses' | 'chance' | 'rate'>,
  { leaseMs, processes, outages: planned, jobMs }: OutagePattern,
): Promise<RoundResult> {
  const { store, folder, closing, signal } = options
  mkdirSync(folder, { recursive: true })
  const server = await startPostgres({ binaries: 'current' })
  closing(() => server.stop())
  const proxy = await createProxy(server.port)
  closing(() => proxy.close())
  const place = { store, at: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) }
  const crew = createCrew(folder, place, `${leaseMs}ms`)
  closing(crew.destroy)
  await Promise.all(Array.from({ length: processes }, () => crew.start([LONG])))
  // Bypasses the proxy, so that it can always read the store.
  const mill = jobmill({ store: await storeAt({ store, at: server.url }), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  const lengths = planned.map(({ ms }) => `${(ms / 1_000).toFixed(1)} s`).join(', ')
  console.log(`\n${NAME} on ${store}: ${processes} processes, a lease of ${leaseMs / 1_000} s, ${lengths}`)
  const sent = calls()
  const jobs = JOBS_PER_PROCESS * processes
  for (let n = 0; n < jobs; n += 1) await sent.send(mill, LONG, { ms: jobMs })
  for (const { afterMs, ms } of planned) {
    await sleep(afterMs)
    // Connections are refused, so that processes reconnect one by one.
    proxy.pointTo(NOWHERE)
    proxy.cut()
    await sleep(ms)
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
    [dead > 0, `dead: ${dead} of ${jobs} jobs died during ${NAME}, although no process crashed`],
    [blamed > 0, `quarantined: ${blamed} of ${jobs} jobs during ${NAME}, although no process crashed`],
    [!isEnded, `not ended: jobs are still open ${END_MS / 1_000} s after ${NAME}`],
    [done + dead < jobs, `lost: ${jobs - done - dead} jobs were not done after ${NAME}`],
  ]
  console.log(
    `${NAME}: ${done} of ${jobs} done, ${dead} dead, ${blamed} quarantined, crashes ${crashes.join(' ')}, all done after ${recoverySeconds} s`,
  )
  return {
    struck: [{ name: NAME, store, injected: planned.length, recoverySeconds }],
    broken: sentences.flatMap(([isBroken, sentence]) => (isBroken ? [`${sentence}.`] : [])),
    lost: Math.max(0, jobs - done - dead),
    acknowledged: jobs,
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
