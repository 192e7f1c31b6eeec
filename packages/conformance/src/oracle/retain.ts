/** retain: deletes what the settings no longer keep. */
import {
  DEFAULTS,
  type EndedState,
  RESOLUTIONS,
  type Retained,
  type RetainRequest,
  surplusRows,
} from 'jobmill/store'
import { runningUnder } from './instances/liveness.ts'
import type { OracleState } from './state.ts'

export function retain(state: OracleState, request: RetainRequest): Retained {
  const { limit, ticksMs, eventsMs, metricsMs, queues } = request
  const old = surplusRows(state.jobs.values(), (queue) => state.queues.get(queue)?.settings, state.now)
    .filter(({ queue }) => queues?.includes(queue) !== false)
    .slice(0, limit)
  const ended = (as: EndedState): number => old.filter((job) => job.state === as).length
  const jobs = { jobs: old.length, done: ended('done'), dead: ended('dead'), cancelled: ended('cancelled') }
  for (const job of old) state.jobs.delete(job.id)

  const keys = [...state.holds].filter(([, { until }]) => until !== null && until <= state.now)
  for (const [key] of keys) state.holds.delete(key)

  const gone = [...state.instances.values()].filter(
    ({ id, endedAt }) =>
      endedAt !== null &&
      state.now - endedAt >= DEFAULTS.keepEndedInstanceMs &&
      runningUnder(state, id).length === 0,
  )
  forgetVersions(state)
  for (const { id, version, startedAt, endedAt } of gone) {
    if (version !== null && endedAt !== null) state.pastInstances.set(id, { version, startedAt, endedAt })
    state.instances.delete(id)
    state.lostJobs.delete(id)
  }

  const ticks = without(state.ticks, limit, ({ servedAt }) => state.now - servedAt >= ticksMs)
  const events = without(state.events, limit, ({ at }) => state.now - at >= eventsMs)
  const buckets = without(state.buckets, limit, ({ at, resolution }) => {
    const keptMs = metricsMs[RESOLUTIONS.findIndex((one) => one === resolution)] ?? 0
    return state.now - (at + resolution) >= keptMs
  })
  Object.assign(state, { ticks: ticks.kept, events: events.kept, buckets: buckets.kept })

  forget(state)
  const counts = [old.length, ticks.gone, events.gone, buckets.gone]
  return {
    ...jobs,
    keys: keys.length,
    instances: gone.length,
    ticks: ticks.gone,
    events: events.gone,
    metrics: buckets.gone,
    more: counts.includes(limit),
  }
}

/** Deletes the versions of instances that ended long ago, and all but the newest. */
function forgetVersions({ pastInstances, now }: OracleState): void {
  const ends = [...pastInstances.values()].map(({ endedAt }) => endedAt).toSorted((a, b) => b - a)
  const last = Math.max(now - DEFAULTS.keepVersionsMs, ends[DEFAULTS.keepVersions] ?? 0)
  for (const [id, { endedAt }] of pastInstances) if (endedAt <= last) pastInstances.delete(id)
}

const PLACE_MS = 600_000
const RECORDING_MS = 86_400_000

/**
 * Deletes expired places in the wait lists of limits. Deletes the sequence numbers of recordings after a day,
 * when no process resends them any more.
 */
function forget(state: OracleState): void {
  for (const limit of state.limits.values()) {
    for (const { places } of [limit, ...limit.keys.values()])
      for (const [holder, since] of places) if (state.now - since >= PLACE_MS) places.delete(holder)
    // A full budget is the same as one that was never used.
    for (const [key, { budget, places }] of limit.keys)
      if (places.size === 0 && Object.values(budget).every((at) => at <= state.now)) limit.keys.delete(key)
  }
  for (const [source, { at }] of state.recorded)
    if (state.now - at >= RECORDING_MS) state.recorded.delete(source)
}

/** Removes the items that are too old, at most `limit` of them. */
function without<T>(
  items: readonly T[],
  limit: number,
  isOld: (item: T) => boolean,
): { readonly kept: T[]; readonly gone: number } {
  const gone = new Set(items.filter(isOld).slice(0, limit))
  return { kept: items.filter((item) => !gone.has(item)), gone: gone.size }
}
