/** Diagnostics of queues, limits and schedules: what blocks jobs or makes them fail permanently. */
import { quote } from '../../job/errors.ts'
import { spanText } from '../../job/text/span-text.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import { warning } from '../../store/admin/admin.ts'
import type { LimitRecord } from '../../store/types/limit.ts'
import type { QueueCounts, QueueRecord } from '../../store/types/queue-record.ts'
import { about, type MillDiagnostic } from './diagnose.ts'
import type { ScheduleView } from '../operate/schedule-view.ts'
import type { QueueSeries } from '../report/series.ts'

export interface QueueScene {
  readonly queues: readonly QueueRecord[]
  readonly counts: readonly QueueCounts[]
  readonly instances: readonly InstanceRecord[]
}

const WAITS_LONG_MS = 5 * 60_000
/** A shorter cool-down needs no attention. */
const COOLS_LONG_MS = 10_000
/** More than `MOST_DEATHS` dead jobs within this time probably have a common cause. */
export const DEATHS_MS = 10 * 60_000
const MOST_DEATHS = 10

export function queueDiagnostics({ queues, counts, instances }: QueueScene): MillDiagnostic[] {
  const alive = instances.filter(({ state }) => state === 'alive')
  return queues.flatMap((queue) => {
    const own = counts.find((one) => one.queue === queue.name)
    if (own === undefined) return []
    const isServed = alive.some((one) => one.queues.includes(queue.name))
    return [...pausedOrWithoutWorkers(queue, own), ...cooling(queue), ...slow(queue, own, isServed)]
  })
}

/** An operator paused the queue on purpose, and may have forgotten it. */
function pausedOrWithoutWorkers(
  { name, paused, workers }: QueueRecord,
  { ready }: QueueCounts,
): MillDiagnostic[] {
  if (ready === 0) return []
  const wait = ready === 1 ? '1 job is waiting' : `${ready} jobs are waiting`
  if (paused) {
    const message = `queue ${quote(name)} is paused, and ${wait}`
    return [
      about(
        warning('paused', message, 'Resume the queue once the reason for the pause is resolved'),
        'queue',
        name,
      ),
    ]
  }
  if (workers !== 0) return []
  const fix = 'Set workers to 1 or more, or to null for the default of each process'
  return [about(warning('workers', `queue ${quote(name)} has 0 workers, and ${wait}`, fix), 'queue', name)]
}

function cooling({ name, coolingMs, throttles }: QueueRecord): MillDiagnostic[] {
  if (coolingMs < COOLS_LONG_MS) return []
  const often = throttles === 0 ? '' : `, after ${throttles} ${throttles === 1 ? 'throttle' : 'throttles'}`
  const message = `queue ${quote(name)} is cooling down for another ${spanText(coolingMs)}${often}`
  const fix = 'Wait. If it happens often, give the queue a limit that matches what the remote service accepts'
  return [about(warning('cooling', message, fix), 'queue', name)]
}

function slow(
  { name, paused, workers, coolingMs }: QueueRecord,
  { oldestReadyMs }: QueueCounts,
  isServed: boolean,
): MillDiagnostic[] {
  // Other diagnostics already explain these cases.
  if (!isServed || paused || workers === 0 || coolingMs > 0) return []
  if (oldestReadyMs === null || oldestReadyMs <= WAITS_LONG_MS) return []
  const message = `the oldest ready job in queue ${quote(name)} has waited for ${spanText(oldestReadyMs)}`
  const fix = 'Check what blocks it (jobmill jobs show). If all workers are busy, add workers or processes'
  return [about(warning('waiting', message, fix), 'queue', name)]
}

export function deathDiagnostics(series: readonly QueueSeries[]): MillDiagnostic[] {
  return series.flatMap(({ queue, all }) => {
    const { dead } = all.counters
    if (dead <= MOST_DEATHS) return []
    const message = `${dead} jobs failed permanently in queue ${quote(queue)} in the last ${spanText(DEATHS_MS)}`
    const fix = 'Inspect the errors (jobmill jobs list --state dead), fix the cause, then retry the jobs'
    return [about(warning('dead', message, fix), 'queue', queue)]
  })
}

/** Dead jobs need a decision, even a single one. Queues with many failures have a diagnostic of their own. */
export function deadJobDiagnostics(
  counts: readonly QueueCounts[],
  others: readonly MillDiagnostic[],
): MillDiagnostic[] {
  return counts.flatMap(({ queue, dead }) => {
    if (dead === 0 || others.some(({ about: { name } }) => name === queue)) return []
    const message = `queue ${quote(queue)} has ${dead} dead ${dead === 1 ? 'job' : 'jobs'}`
    const fix = `Inspect the errors (jobmill jobs list --state dead --queue ${queue}), fix the cause, then retry or delete the jobs`
    return [about(warning('dead', message, fix), 'queue', queue)]
  })
}

export function limitDiagnostics(limits: readonly LimitRecord[]): MillDiagnostic[] {
  return limits
    .filter(({ drainedMs }) => drainedMs > 0)
    .map(({ name, drainedMs }) => {
      const message = `limit ${quote(name)} grants nothing for another ${spanText(drainedMs)}`
      return about(
        warning('drained', message, 'Wait. A handler or an operator drained the limit'),
        'limit',
        name,
      )
    })
}

export function scheduleDiagnostics(schedules: readonly ScheduleView[]): MillDiagnostic[] {
  return schedules.flatMap(({ name, error }) => {
    if (error === null) return []
    const message = `schedule ${quote(name)} failed to enqueue: ${error}`
    return [
      about(
        warning('schedules', message, 'Fix the error. The schedule retries automatically'),
        'schedule',
        name,
      ),
    ]
  })
}
