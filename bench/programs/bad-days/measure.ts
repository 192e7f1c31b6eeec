/** Measures one day on a database of its own. */
import type pgDriver from 'pg'
import type { FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { aClaim, aHeartbeat, anInstance, someJobs } from 'jobmill-conformance'
import { createDatabase } from '../../servers/postgres.ts'
import { claims, pg } from './claims.ts'
import { type Cost, costsOf, type Part } from './costs.ts'
import { type Day, KIND, nothing, OTHER_KIND, QUEUE, type TrafficName, TRAFFICS } from './days.ts'
import { progress } from './progress.ts'

/**
 * How long to measure: at least `LAST_MS`, and long enough for several full scans, of which one is allowed
 * after twenty times the duration of the previous one.
 */
const LAST_MS = 5_000
const SLOWEST_TIMES = 60
const MOST_MS = 60_000

export interface Measured extends Readonly<Record<Part, Cost>> {
  /** The pages of the claim index that half of the claims did not exceed. */
  readonly usualPages: number
  /** The share of the time that the server spent in claims that read many more pages: full scans. */
  readonly scanShare: number
}

async function connect(url: string): Promise<pgDriver.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

async function opened(url: string): Promise<FullStore> {
  const store: FullStore = postgres(url)
  await store.open()
  return store
}

let databases = 0

export async function measure(
  { name, traffic, jobs, trouble, priorities = 1 }: Day,
  serverUrl: string,
  scale: number,
): Promise<Measured> {
  databases += 1
  const url = await createDatabase(serverUrl, `day_${databases}`)
  const [admin, troubled] = [await connect(url), await connect(url)]
  await admin.query('CREATE EXTENSION pg_stat_statements')
  const [worker, producer] = [await opened(url), await opened(url)]
  const me = anInstance({ kinds: [KIND], leaseMs: 3_600_000 })
  await worker.instances.register(me)
  // Creates the names.
  await producer.enqueue(someJobs([{ kind: OTHER_KIND }]))
  const endTrouble = await (trouble?.(troubled, scale) ?? nothing)

  let { backlog, enqueue, claim, last }: (typeof TRAFFICS)[TrafficName] = TRAFFICS.bulk
  const heartbeat = aHeartbeat(me.id, { leaseMs: 3_600_000 })
  let [sent, done, rounds] = [0, 0, 0]
  const ids = new Set<string>()
  let start: { readonly done: number; readonly at: number } | null = null
  const isOver = (): boolean => {
    if (start === null || done < start.done + last * scale) return false
    const slowest = claims.reduce((most, { ms }) => Math.max(most, ms), 0)
    return (
      performance.now() >= start.at + Math.min(MOST_MS, Math.max(LAST_MS * scale, SLOWEST_TIMES * slowest))
    )
  }
  while (!isOver()) {
    // Before other traffic, the backlog is used up.
    const isFilling = start !== null || traffic === 'bulk' || sent < jobs * scale
    const upTo = isFilling ? done + backlog + enqueue : 0
    for (; sent < upTo; sent += enqueue) {
      const first = sent
      // In no order.
      const requests = Array.from({ length: enqueue }, (_, n) => ({
        priority: ((first + n) * 7_919) % priorities,
      }))
      await producer.enqueue(someJobs(requests))
    }
    const request = aClaim(me.id, { queues: [{ queue: QUEUE, room: claim }], limit: claim })
    const leases = await worker.claim(request)
    await worker.finish(
      leases.map(({ id, token }) => {
        ids.add(id)
        return { id, token, outcome: 'returned', transition: { to: 'done', result: '1' } }
      }),
    )
    done += leases.length
    rounds += 1
    if (rounds % 10 === 0) await worker.instances.renew(heartbeat)
    if (rounds % 50 === 0) await worker.fold(10_000)
    if (rounds % 50 === 0) progress(`${name}, ${traffic}: ${done.toLocaleString('en')} jobs`)
    if (start === null && done >= jobs * scale && (traffic === 'bulk' || leases.length === 0)) {
      ;({ backlog, enqueue, claim, last } = TRAFFICS[traffic])
      claims.length = 0
      await admin.query('SELECT pg_stat_statements_reset()')
      start = { done, at: performance.now() }
    }
  }
  const elapsedMs = performance.now() - (start?.at ?? 0)
  const costs = await costsOf(admin, done - (start?.done ?? 0))
  progress('')
  await endTrouble()
  await Promise.all([worker.close(), producer.close(), admin.end(), troubled.end()])
  if (ids.size !== done) throw new Error(`${name}: ${done} leases of ${ids.size} jobs`)
  if (claims.length === 0) throw new Error('no claim was noted')
  const usualPages =
    claims.map(({ pages }) => pages).toSorted((a, b) => a - b)[Math.floor(claims.length / 2)] ?? 0
  const scans = claims.filter(({ pages }) => pages > 2 * usualPages)
  return { ...costs, usualPages, scanShare: scans.reduce((sum, { ms }) => sum + ms, 0) / elapsedMs }
}
