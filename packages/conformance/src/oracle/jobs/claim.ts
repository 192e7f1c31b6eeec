/** claim: leases the best ready jobs that the request allows, under one new token. */
import { type ClaimRequest, DEFAULTS, type Lease, startRun } from 'jobmill/store'
import { liveLimit, spend } from '../limits.ts'
import { isClaiming } from '../instances/liveness.ts'
import { inTurns } from './groups.ts'
import { parentOf } from './child-ends.ts'
import { freeKey } from './moves.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function claim(state: OracleState, request: ClaimRequest): Lease[] {
  if (!isClaiming(state, request.instance)) return []
  const jobs = claimable(state, request)
  if (jobs.length === 0) return []
  for (const [name, limited] of Map.groupBy(jobs, (job) => limitNameOf(state, job.queue))) {
    const ids = limited.map(({ id }) => id)
    if (name !== null) spend(state, name, ids)
  }
  return leaseTo(state, request.instance, jobs)
}

/** Marks the jobs as running, all under one new token. */
export function leaseTo(state: OracleState, instance: string, jobs: readonly OracleJob[]): Lease[] {
  state.lastToken += 1
  const token = state.lastToken
  for (const job of jobs) if (job.dedupe?.holdAfter === 'started') freeKey(state, job)
  return jobs.map((job) => ({
    ...startRun(job, token, instance, state.now),
    ...(job.steps.size > 0 && { hasSteps: true as const }),
    ...(parentOf(state, job) !== null && { isChild: true as const }),
  }))
}

type Wanted = Omit<ClaimRequest, 'instance'>

/** The jobs a claim would lease, in the order of the reply. Does not check whether the instance may claim. */
export function claimable(state: OracleState, request: Wanted): OracleJob[] {
  const limit = request.quarantined === 'only' ? 1 : request.limit
  const waiting = inClaimOrder(state).filter((job) => isWanted(state, job, request))
  const rooms = new Map(request.queues.map(({ queue, room }) => [queue, room]))
  const free = waiting.filter((job) => limitNameOf(state, job.queue) === null)
  const others = free.filter((job) => !isFair(state, job.queue))
  const waitingOthers = take(others, new Map(rooms), limit).length
  const total = request.queues.reduce((sum, { room }) => sum + room, 0)
  const fair: OracleJob[] = []
  // If not all queues fit into the claim, each fair queue gets its part of it.
  for (const [queue, jobs] of Map.groupBy(free, (job) => job.queue)) {
    if (!isFair(state, queue)) continue
    const [room, left] = [rooms.get(queue) ?? 0, limit - fair.length]
    const part = total > limit ? Math.floor((limit * room) / total) : room
    fair.push(...inTurns(state, queue, jobs, Math.min(room, left, Math.max(left - waitingOthers, part))))
  }
  const chosen = [...fair, ...take(others, rooms, limit - fair.length)]
  // Several queues may use the same limit.
  const left = new Map<string, number>()
  for (const { queue, room } of request.queues) {
    const name = limitNameOf(state, queue)
    if (name === null) continue
    const budget = left.get(name) ?? liveLimit(state, name).available
    const own = waiting.filter((job) => job.queue === queue && !chosen.includes(job))
    const most = Math.min(room, budget, limit - chosen.length)
    const jobs = isFair(state, queue) ? inTurns(state, queue, own, most) : own.slice(0, most)
    left.set(name, budget - jobs.length)
    chosen.push(...jobs)
  }
  return chosen.toSorted(byClaimOrder)
}

function isFair(state: OracleState, queue: string): boolean {
  return state.queues.get(queue)?.settings.groupFair === true
}

/** Whether the queue is open and the request includes the job. */
function isWanted(state: OracleState, job: OracleJob, { kinds, quarantined }: Wanted): boolean {
  const isQuarantined = job.crashes >= DEFAULTS.crashesUntilAlone
  return isOpen(state, job.queue) && kinds.includes(job.kind) && isQuarantined === (quarantined === 'only')
}

/** The first of these jobs, as many as their queues have capacity for, and at most `limit`. */
export function take(jobs: readonly OracleJob[], rooms: Map<string, number>, limit: number): OracleJob[] {
  const chosen: OracleJob[] = []
  for (const job of jobs) {
    const room = rooms.get(job.queue) ?? 0
    if (room === 0 || chosen.length === limit) continue
    rooms.set(job.queue, room - 1)
    chosen.push(job)
  }
  return chosen
}

/** When a limit that blocks ready jobs of these queues and kinds has a token again. */
export function budgetInMs(state: OracleState, request: Pick<Wanted, 'queues' | 'kinds'>): number | null {
  const times = request.queues.flatMap(({ queue }) => {
    const name = limitNameOf(state, queue)
    if (name === null || !isOpen(state, queue)) return []
    const { available, nextInMs } = liveLimit(state, name)
    const waits = inClaimOrder(state).some((job) => job.queue === queue && request.kinds.includes(job.kind))
    return available === 0 && waits ? (nextInMs ?? []) : []
  })
  return times.length === 0 ? null : Math.min(...times)
}

export function limitNameOf(state: OracleState, queue: string): string | null {
  return state.queues.get(queue)?.settings.limit ?? null
}

export function inClaimOrder(state: OracleState): OracleJob[] {
  return [...state.jobs.values()].filter((job) => job.state === 'ready').toSorted(byClaimOrder)
}

function byClaimOrder(a: OracleJob, b: OracleJob): number {
  return a.priority - b.priority || a.seq - b.seq
}

export function isOpen(state: OracleState, name: string): boolean {
  const queue = state.queues.get(name)
  return queue !== undefined && !queue.settings.paused && queue.coolUntil <= state.now
}
