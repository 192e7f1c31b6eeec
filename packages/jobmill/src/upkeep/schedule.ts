/**
 * Serves schedules: plans what is due, and sends ticks until nothing is due. Safe in two processes at once,
 * because a tick is accepted once. The error of a failing schedule is recorded, its next tick stays, and the
 * others continue.
 */
import { isJobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import { errorText } from '../job/text/error-text.ts'
import type { Platform } from '../platform/platform.ts'
import type { FullStore } from '../store/store.ts'
import type { ScheduleRecord, Tick, Ticked } from '../store/types/schedule.ts'
import { planTick, type PlanTools } from './plan-ticks.ts'

export interface ServeOptions extends Pick<PlanTools, 'indexedPayload'> {
  readonly store: Pick<FullStore, 'schedules'>
  readonly platform: Pick<Platform, 'id' | 'random' | 'nextTurn'>
  readonly signal: AbortSignal
  readonly emit?: Emit
}

export type ServedSchedules = Awaited<ReturnType<typeof serveSchedules>>

/** Rejects only when the store cannot be read, or a failure cannot be recorded. */
export async function serveSchedules(options: ServeOptions) {
  const { store, platform, signal } = options
  const pass = servePass(options)
  for (;;) {
    const due: Planned[] = []
    for (const record of await store.schedules.list()) {
      const one = await pass.plan(record)
      if (one === null) continue
      due.push(one)
      // Planning after a long absence takes a while, so yield to the event loop.
      await new Promise<void>((resolve) => platform.nextTurn(resolve))
    }
    for (const batch of inBatches(due)) if (!signal.aborted) await pass.send(batch)
    if (due.length === 0 || signal.aborted) return pass.served()
  }
}

/** The state of one call: a failed schedule is not retried within it. */
function servePass({ store, platform, emit, indexedPayload }: ServeOptions) {
  const all = {
    /** Jobs that were enqueued. */
    fired: 0,
    /** Ticks without a job, because an earlier job still waited or ran. */
    skipped: 0,
    /** Ticks that the policy dropped. */
    missed: 0,
  }
  const queues = new Set<string>()
  const failed = new Set<string>()
  const unsure = new Set<string>()
  const tools = { mintId: () => platform.id(), random: () => platform.random(), indexedPayload }

  async function note({ name, error: noted }: ScheduleRecord, error: unknown): Promise<void> {
    failed.add(name)
    const text = errorText(error)
    // Does not write the same error again: a broken schedule is checked with every heartbeat.
    if (noted === text) return
    emit?.('schedule-failing', { schedule: name, error })
    await store.schedules.failed(name, text)
  }

  function report({ record, tick }: Planned, { accepted, fired }: Ticked): void {
    const { name: schedule } = record
    if (accepted && tick.missed > 0) {
      all.missed += tick.missed
      emit?.('schedule-missed', { schedule, missed: tick.missed })
    }
    const { kind, queue } = record.live
    for (const { at: plannedAt, outcome, job: id } of fired) {
      emit?.('schedule-fired', { schedule, plannedAt, id, outcome })
      if (outcome === 'skipped') {
        all.skipped += 1
        emit?.('duplicate', { id, kind, queue })
        continue
      }
      all.fired += 1
      queues.add(queue)
      emit?.('enqueued', { id, kind, queue, outcome })
    }
  }

  async function failing({ record }: Planned, error: unknown): Promise<void> {
    const isUnknown = isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
    if (!isUnknown || unsure.has(record.name)) return note(record, error)
    // The outcome shows when the schedule is read again.
    unsure.add(record.name)
    queues.add(record.live.queue)
  }

  async function send(batch: readonly Planned[]): Promise<void> {
    try {
      const answers = await store.schedules.tick(batch.map(({ tick }) => tick))
      batch.forEach((one, at) => {
        const answer = answers[at]
        if (answer !== undefined) report(one, answer)
      })
    } catch (error) {
      // Sends each tick alone to find the one that fails. A tick that was written despite the error is then
      // refused.
      const [first, ...others] = batch
      if (others.length > 0) for (const one of batch) await send([one])
      else if (first !== undefined) await failing(first, error)
    }
  }

  return {
    /** Its tick, or null when there is nothing to do. */
    async plan(record: ScheduleRecord): Promise<Planned | null> {
      if (failed.has(record.name)) return null
      try {
        const tick = planTick(record, tools)
        if (tick !== null) return { record, tick }
      } catch (error) {
        await note(record, error)
        return null
      }
      // It failed before, and nothing is due any more: the answer to its tick was lost, or the schedule was
      // changed.
      if (record.error !== null && !record.live.paused) await store.schedules.failed(record.name, null)
      return null
    },
    send,
    /** `failed` schedules could not be served; their records contain the error. `queues` got jobs. */
    served: () => ({ ...all, failed: failed.size, queues: [...queues] }),
  }
}

interface Planned {
  readonly record: ScheduleRecord
  readonly tick: Tick
}

const MOST = { ticks: 100, jobs: 500, bytes: 4 * 1024 * 1024 }

/**
 * Small ticks share a call. A tick with an overlap policy goes alone, after the others: a user's open
 * transaction that ends the previous job holds its dedupe key, and then only this tick waits.
 */
function inBatches(due: readonly Planned[]): Planned[][] {
  const batches: Planned[][] = []
  let room = { ticks: 0, jobs: 0, bytes: 0 }
  for (const one of due.filter(({ record }) => record.live.overlap === 'allow')) {
    const jobs = one.tick.fires.length
    const bytes = jobs * one.record.live.payload.length
    if (room.ticks < 1 || room.jobs < jobs || room.bytes < bytes) {
      batches.push([])
      room = { ...MOST }
    }
    batches.at(-1)?.push(one)
    room = { ticks: room.ticks - 1, jobs: room.jobs - jobs, bytes: room.bytes - bytes }
  }
  const alone = due.filter(({ record }) => record.live.overlap === 'skip')
  return [...batches, ...alone.map((one) => [one])]
}
