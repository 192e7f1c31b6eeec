/** retain: what the settings no longer keep. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { QueueSettings } from '../../job/queue-settings.ts'
import type { Retained } from '../../store/replies.ts'
import { runningUnder } from './liveness.ts'
import type { OracleJob, OracleState } from './state.ts'

export function retain(state: OracleState, now: number, limit: number): Retained {
  const old = [...state.jobs.values()]
    .filter((job) => isTooOld(state, now, job))
    .toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
    .slice(0, limit)
  for (const job of old) state.jobs.delete(job.id)

  const keys = [...state.holds].filter(([, { until }]) => until !== null && until <= now)
  for (const [key] of keys) state.holds.delete(key)

  const gone = [...state.instances.values()].filter(
    ({ id, endedAt }) =>
      endedAt !== null &&
      now - endedAt >= DEFAULTS.keepEndedInstanceMs &&
      runningUnder(state, id).length === 0,
  )
  for (const { id } of gone) state.instances.delete(id)

  return { jobs: old.length, keys: keys.length, instances: gone.length, more: old.length === limit }
}

function isTooOld(state: OracleState, now: number, job: OracleJob): boolean {
  const settings = state.queues.get(job.queue)?.settings
  if (job.endedAt === null || settings === undefined) return false
  const keepMs = keptMs(job, settings)
  return keepMs !== null && now - job.endedAt >= keepMs
}

function keptMs(job: OracleJob, settings: QueueSettings): number | null {
  if (job.state === 'done') return settings.retainDoneMs
  return job.state === 'dead' ? settings.retainDeadMs : settings.retainCancelledMs
}
