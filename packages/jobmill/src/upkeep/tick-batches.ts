/** Groups ticks into calls. */
import type { ScheduleRecord, Tick } from '../store/types/schedule.ts'

export interface Planned {
  readonly record: ScheduleRecord
  readonly tick: Tick
}

const MOST = { ticks: 100, jobs: 500, bytes: 4 * 1024 * 1024 }

/**
 * Small ticks share a call. A tick with an overlap policy goes alone, after the others: a user's open
 * transaction that ends the previous job holds its dedupe key, and then only this tick waits.
 */
export function inBatches(due: readonly Planned[]): Planned[][] {
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
