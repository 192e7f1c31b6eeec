/** The schedule under chaos: planned ticks, served ticks, and their jobs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isJobmillError, type JobState, type Mill, type ScheduleView } from 'jobmill'
import { nowMs } from '../cluster/clock.ts'
import { BEAT_MS, BEATS } from '../cluster/kinds.ts'
import type { Entry } from '../history/entry.ts'

const MOST_TICKS = 1_000
/** A lost leader is replaced within its lease. Ticks that are not served by then are missing. */
const LATE_MS = 20_000

/** Waits until all planned ticks are served or overdue. Returns the time until which ticks are due. */
export async function caughtUp(mill: Mill, signal: AbortSignal): Promise<number> {
  const until = nowMs() + LATE_MS
  for (;;) {
    const schedule = await findSchedule(mill)
    const now = Date.now()
    if ((schedule?.nextAt ?? 0) > now || nowMs() > until) return now
    await sleep(100, undefined, { signal })
  }
}

async function findSchedule(mill: Mill): Promise<ScheduleView | null> {
  try {
    return await mill.schedules.get(BEATS)
  } catch (error) {
    if (isJobmillError(error) && error.retryable) return null
    throw error
  }
}

/** The jobs of the schedule, by id. */
export async function beatJobs(mill: Mill): Promise<Map<string, JobState>> {
  const jobs = new Map<string, JobState>()
  for (let cursor: string | undefined; ;) {
    const page = await mill.list({ queue: BEATS }, { limit: 500, cursor })
    for (const { id, state } of page.jobs) jobs.set(id, state)
    if (page.next === null) return jobs
    cursor = page.next
  }
}

/** Entries for every planned tick, every served tick, and the acknowledgement of its job. */
export async function ticks(mill: Mill, plannedUntil: number, at: number): Promise<Entry[]> {
  const schedule = await mill.schedules.get(BEATS)
  if (schedule === null) return []
  const served = await mill.schedules.history(BEATS, MOST_TICKS)
  const planned: number[] = []
  for (let instant = schedule.createdAt + BEAT_MS; instant <= plannedUntil; instant += BEAT_MS)
    planned.push(instant)
  return [
    ...served.flatMap((tick): Entry[] => [
      { what: 'ticked', schedule: BEATS, instant: tick.at, at },
      { what: 'acknowledged', job: tick.job, at },
    ]),
    { what: 'planned', schedule: BEATS, instants: planned, at },
  ]
}

/** Describes jobs that belong to no served tick. */
export async function unplanned(mill: Mill): Promise<string[]> {
  const served = new Set((await mill.schedules.history(BEATS, MOST_TICKS)).map(({ job }) => job))
  const strange = [...(await beatJobs(mill)).keys()].filter((id) => !served.has(id))
  if (strange.length === 0) return []
  return [
    `tick twice: ${strange.length} jobs of the schedule that no instant was served with (${strange[0] ?? ''}).`,
  ]
}
