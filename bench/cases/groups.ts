// Groups: jobs of many tenants in one queue.
// - groups-drain: drains a full queue of 100 groups, fair, with a limit per group, and plain, one after the
//   other in the same cell.
// - groups-pickup: how long the first job of a new group waits behind the backlog of another, with 10 workers
//   and handlers of 10 ms.
// - groups-claim: a claim behind a full group with many waiting jobs, and behind one with 1,000, through the
//   store contract.
import { setTimeout as sleep } from 'node:timers/promises'
import path from 'node:path'
import type { FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { aClaim, anInstance, someJobs } from 'jobmill-conformance'
import type { Case, Cell, Figure } from '../case.ts'
import { monotonicMs } from '../measure/clock.ts'
import { percentile } from '../measure/percentile.ts'
import type { Grouping, Opening } from '../system.ts'
import { drain, drainFigures, fill } from './drain.ts'

const GROUPS = 100
const KINDS = ['plain', 'fair', 'limited'] as const

async function drainGroups(cell: Cell): Promise<Figure[]> {
  const figures: Figure[] = []
  // pg-boss has no fair queues; its groups have a limit.
  const kinds = cell.system.name === 'jobmill' ? KINDS : (['plain', 'limited'] as const)
  for (const kind of kinds) {
    const groups: Grouping | undefined = kind === 'plain' ? undefined : { kind, count: GROUPS }
    const how: Opening = { keep: true, groups }
    const filler = await cell.open(how)
    await fill(filler, 0, cell.jobs)
    await filler.stop()
    if (cell.place.store === 'postgres') await (await cell.admin()).query('VACUUM ANALYZE')
    const usage = await drain(cell, await cell.open(how), cell.jobs)
    figures.push(...drainFigures(`groups-${kind}`, cell.jobs, usage))
  }
  const rateOf = (name: string): number => figures.find((one) => one.case === name)?.value ?? Number.NaN
  const best = cell.system.name === 'jobmill' ? 'groups-fair' : 'groups-limited'
  return [{ case: 'groups-drain', unit: 'jobs/s', value: rateOf(best) }, ...figures]
}

const WORKERS = 10
const HANDLER_MS = 10
const APART_MS = 30
const NEW_GROUPS = 100

/** Measures the jobs after the backlog, each of a group of its own. */
async function pickupBehind(cell: Cell): Promise<Figure[]> {
  const how: Opening = {
    keep: true,
    load: { workers: WORKERS, handlerMs: HANDLER_MS },
    groups: { kind: 'fair', count: NEW_GROUPS, backlog: cell.jobs },
  }
  const filler = await cell.open(how)
  await fill(filler, 0, cell.jobs)
  await filler.stop()
  const queue = await cell.open(how)
  const at = new Map<number, number>()
  await queue.work((n) => {
    if (n >= cell.jobs && !at.has(n)) at.set(n, monotonicMs())
  })
  await sleep(1_000)
  const began: number[] = []
  for (let n = 0; n < NEW_GROUPS; n += 1) {
    began.push(monotonicMs())
    await queue.enqueue(cell.jobs + n)
    await sleep(APART_MS)
  }
  const deadline = monotonicMs() + 30_000
  while (at.size < NEW_GROUPS && monotonicMs() < deadline) await sleep(20)
  await queue.stop()
  if (at.size < NEW_GROUPS)
    throw new Error(`${NEW_GROUPS - at.size} of ${NEW_GROUPS} new groups did not start`)
  const times = began.map((from, n) => (at.get(cell.jobs + n) ?? Number.NaN) - from)
  return [
    { case: 'groups-pickup', unit: 'ms', value: percentile(times, 0.99) },
    { case: 'groups-pickup-p50', unit: 'ms', value: percentile(times, 0.5) },
  ]
}

const FEW = 1_000
const CLAIMS = 200

async function claimsBehind(cell: Cell): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [jobs, name] of [
    [FEW, 'groups-claim-few'],
    [cell.jobs, 'groups-claim'],
  ] as const) {
    const store: FullStore =
      cell.place.store === 'sqlite'
        ? sqlite(path.join(cell.place.folder, `${name}.db`))
        : postgres(cell.place.url, { schema: name.replaceAll('-', '_'), notifier: false })
    await store.open()
    figures.push({ case: name, unit: 'ms', value: await claimBehind(store, jobs) })
    await store.close()
  }
  return figures
}

/** The median time of a claim of one job of another group. */
async function claimBehind(store: FullStore, waiting: number): Promise<number> {
  await store.queues.declare([{ name: 'tenants', settings: { groupConcurrency: 1, groupFair: true } }])
  const me = anInstance({ queues: ['tenants'], leaseMs: 600_000 })
  await store.instances.register(me)
  for (let left = waiting; left > 0; left -= 5_000) {
    const count = Math.min(left, 5_000)
    await store.enqueue(someJobs(Array.from({ length: count }, () => ({ queue: 'tenants', group: 'full' }))))
  }
  await store.stage(1_000)
  const request = aClaim(me.id, { queues: [{ queue: 'tenants', room: 10 }], limit: 10 })
  await store.claim(request)
  const times: number[] = []
  for (let n = 0; n < CLAIMS; n += 1) {
    await store.enqueue(someJobs([{ queue: 'tenants', group: `other-${n}` }]))
    await store.stage(1_000)
    const began = monotonicMs()
    const leases = await store.claim(request)
    times.push(monotonicMs() - began)
    if (leases.length !== 1) throw new Error(`expected one job, got ${leases.length}`)
  }
  return percentile(times, 0.5)
}

export const groupsCase: Case = {
  names: ['groups-drain', 'groups-pickup', 'groups-claim'],
  warmsUp: true,
  async run(cell) {
    if (cell.case === 'groups-drain') return drainGroups(cell)
    return cell.case === 'groups-pickup' ? pickupBehind(cell) : claimsBehind(cell)
  },
}
