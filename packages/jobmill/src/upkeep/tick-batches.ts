/** Which ticks share a call. */
import type { ScheduleRecord, Tick } from '../store/schedule.ts'

export interface Planned {
  readonly record: ScheduleRecord
  readonly tick: Tick
}

const MOST = { ticks: 100, jobs: 500, bytes: 4 * 1024 * 1024 }

/**
 * Together what is small. One with an overlap policy goes alone, after the others: a transaction of a user's that ends the job before holds its key for as long
 * as it is open, and then only this one waits.
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
