/** What the checks look at, read once: instances, queues, duties, limits, schedules and recent metrics. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import type { ConfigDrift } from '../../job/events.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { DutyControl } from '../operate/duty-control.ts'
import type { Limiting } from '../operate/limits.ts'
import type { Listing } from '../operate/list-jobs.ts'
import type { Operate } from '../operate/operate.ts'
import type { Schedules } from '../operate/schedules.ts'
import type { Resolved } from '../options/options.ts'
import type { Observation } from '../report/observation.ts'

/** What the doctor reads. */
export type Scene = Awaited<ReturnType<typeof sceneOf>>

/** What `mill.diagnostics()` reads. */
export type LiveScene = Awaited<ReturnType<typeof liveScene>>

/** The part of a mill that the checks of the doctor read. */
export interface DiagnosedMill
  extends
    Pick<Operate, 'instances' | 'unservedKinds' | 'queues'>,
    Pick<DutyControl, 'duties'>,
    Pick<Listing, 'list'> {
  drift(): Promise<ConfigDrift[]>
}

export interface LiveMill
  extends DiagnosedMill, Pick<Operate, 'counts'>, Pick<Limiting, 'limits'>, Pick<Observation, 'metrics'> {
  readonly schedules: Pick<Schedules, 'list'>
}

/** Assumed for a duty whose period this process does not know. */
export const SOME_PERIOD_MS = 8 * 60 * 60_000
/** How far back `LiveScene.series` goes. */
export const DEATHS_MS = 10 * 60_000

/** The period of each cluster-wide duty, as far as the options say. */
export function periodsOf({ retain, duties }: Pick<Resolved, 'retain' | 'duties'>): Map<string, number> {
  return new Map([
    ['schedule', DEFAULTS.scheduleEveryMs],
    ['rebalance', DEFAULTS.rebalanceEveryMs],
    ['roll-up', DEFAULTS.rollUpEveryMs],
    ['retain', retain.everyMs],
    ...duties.map(({ name, everyMs }) => [name, everyMs ?? SOME_PERIOD_MS] as const),
  ])
}

/**
 * `periods` has the period of each duty, as far as this process knows it. `hidesPayloads` leaves payloads out
 * of the texts, because not every role may see them.
 */
export async function sceneOf(
  mill: DiagnosedMill,
  periods: ReadonlyMap<string, number>,
  hidesPayloads: boolean,
) {
  const [instances, unservedKinds, queues, duties, drift] = await Promise.all([
    mill.instances(),
    mill.unservedKinds(),
    mill.queues(),
    mill.duties(),
    mill.drift(),
  ])
  const deadHolders = await findDeadHolders(mill, instances)
  return { instances, deadHolders, unservedKinds, queues, duties, drift, periods, hidesPayloads }
}

export async function liveScene(mill: LiveMill, options: Pick<Resolved, 'retain' | 'duties' | 'platform'>) {
  const [scene, counts, limits, schedules] = await Promise.all([
    sceneOf(mill, periodsOf(options), true),
    mill.counts(),
    mill.limits.list(),
    mill.schedules.list(),
  ])
  const { queues: series } = await mill.metrics({
    queues: scene.queues.map(({ name }) => name),
    from: Math.max(0, options.platform.now() - DEATHS_MS),
    resolution: '1m',
  })
  return { ...scene, counts, limits, schedules, series }
}

/** Scans at most this many pages of running jobs, oldest first, so that jobs of a dead process come early. */
const LOOKED_AT_PAGES = 10

/** Expired instances that still hold jobs. An expired instance without jobs needs no attention. */
async function findDeadHolders(
  mill: DiagnosedMill,
  instances: readonly InstanceRecord[],
): Promise<ReadonlySet<string>> {
  const dead = new Set(instances.flatMap(({ state, id }) => (state === 'expired' ? [id] : [])))
  const holders = new Set<string>()
  let cursor: string | null | undefined = dead.size === 0 ? null : undefined
  for (let page = 0; cursor !== null && page < LOOKED_AT_PAGES && holders.size < dead.size; page += 1) {
    const { jobs, next } = await mill.list({ state: 'running' }, { limit: BOUNDS.pageLimit, cursor })
    for (const { instance } of jobs) if (instance !== null && dead.has(instance)) holders.add(instance)
    cursor = next
  }
  return holders
}
