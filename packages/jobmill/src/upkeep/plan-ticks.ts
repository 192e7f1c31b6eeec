/**
 * Plans the ticks of a schedule. Apart from ids and jitter it is pure, so that every leader plans the same.
 * The next tick follows from the planned ones and never from the clock, so a clock that steps back plans
 * nothing twice.
 */
import { DEFAULTS } from '../job/defaults.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import { indexedJob } from '../job/payload/indexed.ts'
import { overlapKey, type ScheduleDefinition } from '../job/schedule/schedule.ts'
import { type Instants, instantsOf } from '../job/when/instants.ts'
import type { ScheduleRecord, Tick } from '../store/types/schedule.ts'

export interface PlanTools {
  readonly mintId: () => string
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** The payload paths that a kind indexes, if this process knows them. */
  readonly indexedPayload?: ((kind: string) => readonly string[] | undefined) | undefined
}

/** Bounds of one tick call. The next call serves the rest at once. */
const MOST_FIRES = 100
const MOST_BYTES = 4 * 1024 * 1024

/** The tick to send, or null when nothing is due. Throws when the expression or the zone is invalid here. */
export function planTick(record: ScheduleRecord, tools: PlanTools): Tick | null {
  const { live, planned, nextAt, readAt } = record
  if (live.paused || (planned && (nextAt === null || nextAt > readAt))) return null
  const instants = instantsOf(live, record.createdAt)
  const step = { schedule: record.name, revision: record.revision, from: nextAt }
  if (!planned || nextAt === null) return { ...step, nextAt: firstAt(record, instants), fires: [], missed: 0 }
  const { serve, dropped, next } = split(live, instants, nextAt, readAt)
  const fires = serve.map((at) => ({ at, job: jobAt(record.name, live, at, tools) }))
  return { ...step, nextAt: next, fires, missed: dropped }
}

/**
 * A new schedule counts from its creation, even if no process checked it for a while; a changed or resumed
 * one counts from now.
 */
function firstAt({ revision, createdAt, readAt }: ScheduleRecord, { after }: Instants): number | null {
  return after(revision === 1 ? createdAt : readAt)
}

/** Splits the planned instants from `from` to `now`: those to serve, and the number to drop. */
function split(live: ScheduleDefinition, instants: Instants, from: number, now: number) {
  // Older instants are missed.
  const edge = now - DEFAULTS.scheduleLateMs
  const oldest = live.missed === 'all' ? Math.min(edge, now - live.missedWithinMs) : edge
  const first = from >= oldest ? from : instants.after(oldest - 1)
  const { serve, next } = upTo(first, now, instants, mostFires(live))
  const dropped = instants.count(from, oldest)
  if (live.missed !== 'last' || serve.length > 0 || dropped === 0) return { serve, dropped, next }
  return { serve: [instants.lastBefore(edge, from)], dropped: dropped - 1, next }
}

function upTo(first: number | null, now: number, { after }: Instants, most: number) {
  const serve: number[] = []
  let next = first
  while (next !== null && next <= now && serve.length < most) {
    serve.push(next)
    next = after(next)
  }
  return { serve, next }
}

function mostFires({ payload }: ScheduleDefinition): number {
  return Math.max(1, Math.min(MOST_FIRES, Math.floor(MOST_BYTES / payload.length)))
}

/** The job of a tick. */
function jobAt(name: string, live: ScheduleDefinition, at: number, tools: PlanTools): NewJob {
  const { mintId, random, indexedPayload } = tools
  const dueAt = live.jitterMs === 0 ? null : at + Math.floor(random() * (live.jitterMs + 1))
  const metadata = JSON.stringify({ schedule: name, plannedAt: new Date(at).toISOString() })
  return { ...scheduledJob(name, live, mintId(), indexedPayload?.(live.kind)), dueAt, metadata }
}

/** A job of this schedule, ready at once. `paths` are those that its kind indexes. */
export function scheduledJob(
  name: string,
  live: ScheduleDefinition,
  id: string,
  paths: readonly string[] | undefined,
): NewJob {
  const { kind, queue, payload, priority, maxAttempts, timeoutMs, tags, overlap } = live
  const job: NewJob = {
    id,
    kind,
    queue,
    payload,
    priority,
    maxAttempts,
    dueAt: null,
    delayMs: 0,
    timeoutMs,
    tags,
    metadata: JSON.stringify({ schedule: name }),
    dedupe:
      overlap === 'skip' ? { key: overlapKey(name), holdMs: 0, holdAfter: 'done', onConflict: 'keep' } : null,
    orderKey: null,
    group: null,
  }
  return indexedJob(job, paths)
}
