/** claim: the best ready jobs that the request allows, under one new token. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { ClaimRequest, Lease } from '../../store/claim.ts'
import { isAlive } from './liveness.ts'
import type { OracleJob, OracleState } from './state.ts'

export function claim(state: OracleState, now: number, request: ClaimRequest): Lease[] {
  if (!isAlive(state, now, request.instance)) return []
  const jobs = claimable(state, now, request)
  if (jobs.length === 0) return []
  state.lastToken += 1
  const token = state.lastToken
  for (const job of jobs) {
    job.state = 'running'
    job.attempt += 1
    job.run = {
      token,
      instance: request.instance,
      startedAt: now,
      cancelReason: null,
      progress: null,
      log: null,
    }
  }
  return jobs.map((job) => leaseOf(job, token))
}

/** What a claim would take, in the order of taking. Says nothing about whether the instance may. */
export function claimable(
  state: OracleState,
  now: number,
  request: Omit<ClaimRequest, 'instance'>,
): OracleJob[] {
  const rooms = new Map(request.queues.map(({ queue, room }) => [queue, room]))
  const limit = request.suspects === 'only' ? 1 : request.limit
  const taken: OracleJob[] = []
  for (const job of inClaimOrder(state)) {
    const room = rooms.get(job.queue) ?? 0
    const isSuspect = job.crashes >= DEFAULTS.crashesUntilAlone
    if (taken.length === limit) break
    if (room === 0 || !isOpen(state, now, job.queue) || !request.kinds.includes(job.kind)) continue
    if (isSuspect !== (request.suspects === 'only')) continue
    rooms.set(job.queue, room - 1)
    taken.push(job)
  }
  return taken
}

export function inClaimOrder(state: OracleState): OracleJob[] {
  return [...state.jobs.values()]
    .filter((job) => job.state === 'ready')
    .toSorted((a, b) => a.priority - b.priority || a.seq - b.seq)
}

function isOpen(state: OracleState, now: number, name: string): boolean {
  const queue = state.queues.get(name)
  return queue !== undefined && !queue.settings.paused && queue.coolUntil <= now
}

function leaseOf(job: OracleJob, token: number): Lease {
  const { id, kind, queue, priority, attempt, maxAttempts, crashes, payload } = job
  const { timeoutMs, tags, metadata, orderKey, enqueuedAt, readyAt } = job
  return {
    id,
    token,
    kind,
    queue,
    priority,
    attempt,
    maxAttempts,
    crashes,
    payload,
    timeoutMs,
    tags,
    metadata,
    orderKey,
    enqueuedAt,
    readyAt,
  }
}
