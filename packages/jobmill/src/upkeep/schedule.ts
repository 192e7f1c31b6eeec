/**
 * Serves schedules: plans what is due, and sends it as ticks until nothing is. Safe in two processes at once, because a tick is accepted once. A schedule that
 * cannot be served is noted, stays as it is, and stops no other.
 */
import { errorText } from '../job/error-text.ts'
import { isJobmillError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'
import type { ScheduleRecord, Ticked } from '../store/schedule.ts'
import type { Store } from '../store/store.ts'
import { planTick } from './plan-ticks.ts'
import { inBatches, type Planned } from './tick-batches.ts'

export interface ServeOptions {
  readonly store: Pick<Store, 'schedules' | 'tick' | 'scheduleFailed'>
  readonly platform: Pick<Platform, 'id' | 'random' | 'nextTurn'>
  readonly signal: AbortSignal
  readonly emit?: Emit
}

export interface ServedSchedules {
  /** Jobs that were enqueued. */
  readonly fired: number
  /** Instants without a job, because one still waited or ran. */
  readonly skipped: number
  /** Instants that the policy dropped. */
  readonly missed: number
  /** Schedules that could not be served; why is noted with them. */
  readonly failed: number
  /** The queues that got jobs. */
  readonly queues: readonly string[]
}

/** Rejects only when the store cannot be read, or not even a failure can be noted. */
export async function serveSchedules(options: ServeOptions): Promise<ServedSchedules> {
  const { store, platform, signal } = options
  const pass = servePass(options)
  for (;;) {
    const due: Planned[] = []
    for (const record of await store.schedules()) {
      const one = await pass.plan(record)
      if (one === null) continue
      due.push(one)
      // To look back over a long absence takes a while, and the process has more to do than this.
      await new Promise<void>((resolve) => platform.nextTurn(resolve))
    }
    for (const batch of inBatches(due)) if (!signal.aborted) await pass.send(batch)
    if (due.length === 0 || signal.aborted) return pass.served()
  }
}

/** What is known in one call: who failed is not tried again in it. */
function servePass({ store, platform, emit }: ServeOptions) {
  const all = { fired: 0, skipped: 0, missed: 0 }
  const queues = new Set<string>()
  const failed = new Set<string>()
  const unsure = new Set<string>()
  const tools = { mintId: () => platform.id(), random: () => platform.random() }

  async function note({ name, error: noted }: ScheduleRecord, error: unknown): Promise<void> {
    failed.add(name)
    const text = errorText(error)
    // The same is not written again: one that cannot be read is looked at with every heartbeat.
    if (noted === text) return
    emit?.('schedule-failing', { schedule: name, error })
    await store.scheduleFailed(name, text)
  }

  function told({ record, tick }: Planned, { accepted, fired }: Ticked): void {
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
    // What became of it shows when the schedule is read again.
    unsure.add(record.name)
    queues.add(record.live.queue)
  }

  async function send(batch: readonly Planned[]): Promise<void> {
    try {
      const answers = await store.tick(batch.map(({ tick }) => tick))
      batch.forEach((one, at) => {
        const answer = answers[at]
        if (answer !== undefined) told(one, answer)
      })
    } catch (error) {
      // Which one is at fault shows when each is sent alone. One that was written all the same is refused then.
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
      // It failed before, and there is nothing left to do: its answer was lost, or somebody changed it.
      if (record.error !== null && !record.live.paused) await store.scheduleFailed(record.name, null)
      return null
    },
    send,
    served: (): ServedSchedules => ({ ...all, failed: failed.size, queues: [...queues] }),
  }
}
