/** The data of the checks, read once: instances, queues, duties, limits, schedules and recent metrics. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import type { ConfigDrift } from '../../job/events.ts'
import { fingerprintOf } from '../../job/grouping/fingerprint.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { DutyControl } from '../operate/duty-control.ts'
import type { Limiting } from '../operate/limits.ts'
import type { Listing } from '../operate/list-jobs.ts'
import type { Operate } from '../operate/operate.ts'
import type { Schedules } from '../operate/schedules.ts'
import type { Resolved } from '../options/options.ts'
import type { Observation } from '../report/observation.ts'
import type { KindSeries } from '../report/series.ts'
import { type ExplainedKind, FAILING_MS, failingKinds, SINCE_MS } from './failing-kinds.ts'
import { failingSince, firstSeenWith } from './failing-since.ts'

/** What the doctor reads. */
export type Scene = Awaited<ReturnType<typeof sceneOf>>

/** What `mill.diagnostics()` reads. */
export type LiveScene = Awaited<ReturnType<typeof liveScene>>

/** The part of a mill that the checks of the doctor read. */
export interface DiagnosedMill
  extends
    Pick<Operate, 'instances' | 'unservedKinds' | 'queues' | 'versions'>,
    Pick<DutyControl, 'duties'>,
    Pick<Listing, 'list'>,
    Pick<Observation, 'metrics'> {
  drift(): Promise<ConfigDrift[]>
}

export interface LiveMill
  extends DiagnosedMill, Pick<Operate, 'counts'>, Pick<Limiting, 'limits'>, Pick<Observation, 'timeline'> {
  readonly schedules: Pick<Schedules, 'list'>
}

/** Assumed for a duty whose period this process does not know. */
export const SOME_PERIOD_MS = 8 * 60 * 60_000
/** At most this many failing kinds are explained. */
const MOST_EXPLAINED = 10
/** Recorded steps that the handler no longer calls are reported for this long. */
const UNUSED_MS = 60 * 60_000
const MOST_UNUSED = 100
/** To find the most frequent error of a kind, reads at most this many dead and this many retrying jobs. */
const ERRORS_PER_KIND = 20
/** The number of jobs that are listed for all failing kinds together. */
const ERRORS_TOGETHER = 100
/** The rows in which they are searched. Of another kind, a hundred thousand jobs may have just died. */
const ERRORS_SCANNED = 5_000

type Options = Pick<Resolved, 'retain' | 'duties' | 'platform'>

/** The period of each cluster-wide duty, as far as the options say. */
export function periodsOf({ retain, duties }: Pick<Resolved, 'retain' | 'duties'>): Map<string, number> {
  return new Map([
    ['schedule', DEFAULTS.scheduleEveryMs],
    ['rebalance', DEFAULTS.rebalanceEveryMs],
    ['roll-up', DEFAULTS.rollUpEveryMs],
    ['alert', DEFAULTS.alertEveryMs],
    ['retain', retain.everyMs],
    ...duties.map(({ name, everyMs }) => [name, everyMs ?? SOME_PERIOD_MS] as const),
  ])
}

/** `hidesPayloads` leaves payloads out of the texts, because not every role may see them. */
export async function sceneOf(mill: DiagnosedMill, options: Options, hidesPayloads: boolean) {
  const [instances, unservedKinds, queues, duties, drift] = await Promise.all([
    mill.instances(),
    mill.unservedKinds(),
    mill.queues(),
    mill.duties(),
    mill.drift(),
  ])
  const deadHolders = await findDeadHolders(mill, instances)
  const now = options.platform.now()
  const { queues: series, kinds } = await mill.metrics({
    queues: queues.map(({ name }) => name),
    kinds: [...new Set(instances.flatMap((one) => one.kinds))],
    from: Math.max(0, now - FAILING_MS),
    resolution: '1m',
  })
  return {
    now,
    instances,
    deadHolders,
    unservedKinds,
    queues,
    duties,
    drift,
    periods: periodsOf(options),
    hidesPayloads,
    /** Metrics of the last `FAILING_MS`, per minute. */
    series,
    kinds,
    failing: await explainFailing(mill, kinds, now),
  }
}

export async function liveScene(mill: LiveMill, options: Options) {
  const from = Math.max(0, options.platform.now() - UNUSED_MS)
  const [scene, counts, limits, schedules, unused] = await Promise.all([
    sceneOf(mill, options, true),
    mill.counts(),
    mill.limits.list(),
    mill.schedules.list(),
    mill.timeline({ types: ['steps-unused'], from, limit: MOST_UNUSED }),
  ])
  return { ...scene, counts, limits, schedules, unusedSteps: unused.events }
}

/** Reads more about the worst of the failing kinds: since when they fail, on which version, and why. */
async function explainFailing(
  mill: Pick<DiagnosedMill, 'metrics' | 'list' | 'versions'>,
  series: readonly KindSeries[],
  now: number,
): Promise<readonly ExplainedKind[]> {
  const failing = failingKinds(series, now)
  const worst = failing.slice(0, MOST_EXPLAINED)
  if (worst.length === 0) return []
  const ofWorst = worst.flatMap((one) => series.find(({ kind }) => kind === one.kind) ?? [])
  const [{ kinds, from }, known, errors] = await Promise.all([
    mill.metrics({
      kinds: worst.map(({ kind }) => kind),
      from: Math.max(0, now - SINCE_MS),
      resolution: '1m',
    }),
    mill.versions(),
    latestErrors(mill, ofWorst, now),
  ])
  const versions = known.map(({ version }) => version)
  return failing.map((one, at) => {
    if (at >= worst.length) return { ...one, explanation: null }
    const points = kinds.find(({ kind }) => kind === one.kind)?.points ?? []
    const share = one.failed / one.attempts
    const sinceAt = failingSince(points, share, from)
    const error = mostFrequent(one.kind, errors.get(one.kind) ?? [])
    const version = firstSeenWith(points, { share, sinceAt, versions })
    return { ...one, explanation: { sinceAt, firstSeenWith: version, error } }
  })
}

type Errors = ReadonlyMap<string, readonly string[]>

/**
 * The latest errors of each kind. Two lists, so that dead jobs of other kinds, which can be many, do not
 * crowd out the retrying jobs of a kind.
 */
async function latestErrors(
  mill: Pick<DiagnosedMill, 'list'>,
  series: readonly KindSeries[],
  now: number,
): Promise<Errors> {
  const kindsWith = (end: 'dead' | 'retried'): string[] =>
    series.flatMap(({ kind, all: { ended } }) => (ended[end] + ended.timedOut > 0 ? kind : []))
  const lists = await Promise.all([
    errorsOf(mill, kindsWith('dead'), { state: 'dead', endedFrom: Math.max(0, now - FAILING_MS) }),
    errorsOf(mill, kindsWith('retried'), { state: 'retrying' }),
  ])
  return new Map(series.map(({ kind }) => [kind, lists.flatMap((list) => list.get(kind) ?? [])]))
}

/**
 * One list for all kinds usually has errors of each. A kind that others crowd out gets a list of its own,
 * which may read many jobs to find its few.
 */
async function errorsOf(
  mill: Pick<DiagnosedMill, 'list'>,
  kinds: readonly string[],
  filter: Parameters<DiagnosedMill['list']>[0],
): Promise<Errors> {
  if (kinds.length === 0) return new Map()
  const read = async (kind: readonly string[], limit: number) =>
    Map.groupBy(
      (await mill.list({ ...filter, kind }, { limit, mostScanned: ERRORS_SCANNED })).jobs,
      (job) => job.kind,
    )
  const found = await read(kinds, ERRORS_TOGETHER)
  for (const kind of kinds)
    if (!found.has(kind)) for (const entry of await read([kind], ERRORS_PER_KIND)) found.set(...entry)
  return new Map(
    [...found].map(([kind, jobs]) => [
      kind,
      jobs.slice(0, ERRORS_PER_KIND).flatMap(({ error }) => error ?? []),
    ]),
  )
}

/** The latest error of the largest group. Errors are grouped as on the Errors page. */
function mostFrequent(kind: string, errors: readonly string[]): string | null {
  const groups = [...Map.groupBy(errors, (error) => fingerprintOf(kind, error).fingerprint).values()]
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0] ?? null
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
