/**
 * Store-independent checks of a running system: kinds without workers, overdue duties, dead processes.
 * Read-only.
 */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { countText } from '../../job/text/count-text.ts'
import { quote } from '../../job/errors.ts'
import { spanText } from '../../job/text/span-text.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import { type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import { type QueueRecord, type UnservedKind, UNSERVED_ROWS } from '../../store/types/queue-record.ts'
import type { ConfigDrift } from './config-drift.ts'
import type { Listing } from '../operate/list-jobs.ts'
import type { Operate } from '../operate/operate.ts'
import type { Resolved } from '../options/options.ts'
import type { DutyView, DutyControl } from '../operate/duty-control.ts'

/** What a diagnostic is about, so that the dashboard can link to it. */
export interface About {
  readonly what: 'queue' | 'kind' | 'duty' | 'instance' | 'limit' | 'schedule' | 'database' | null
  readonly name: string | null
}

export interface MillDiagnostic extends Diagnostic {
  readonly about: About
}

/** The part of a mill that the checks read. */
export interface DiagnosedMill
  extends
    Pick<Operate, 'instances' | 'unservedKinds' | 'queues'>,
    Pick<DutyControl, 'duties'>,
    Pick<Listing, 'list'> {
  drift(): Promise<ConfigDrift[]>
}

export interface DiagnoseMillOptions {
  /** Leaves payloads out of the texts, because not every role may see them. */
  readonly hidesPayloads?: boolean
}

/** Running instances notice an expired one within seconds. */
const REAPED_WITHIN_MS = 15_000
/** Assumed for a duty whose period this process does not know. */
const SOME_PERIOD_MS = 8 * 60 * 60_000

export async function diagnoseMill(
  mill: DiagnosedMill,
  periods: ReadonlyMap<string, number>,
  { hidesPayloads = false }: DiagnoseMillOptions = {},
): Promise<MillDiagnostic[]> {
  const instances = await mill.instances()
  return [
    ...processes(instances, await deadHolders(mill, instances)),
    ...served(await mill.unservedKinds(), instances),
    ...duties(await mill.duties(), instances, periods),
    ...paused(await mill.queues()),
    ...settings(await mill.drift(), hidesPayloads),
  ]
}

export function about(
  diagnostic: Diagnostic,
  what: About['what'] = null,
  name: string | null = null,
): MillDiagnostic {
  return { ...diagnostic, about: { what, name } }
}

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

const isAlive = ({ state }: InstanceRecord): boolean => state === 'alive'
const nameOf = ({ label, id }: InstanceRecord): string => label ?? id

/** The latest heartbeat, by the database clock. Null when no instance is alive. */
function lastSeenAt(instances: readonly InstanceRecord[]): number | null {
  const alive = instances.filter(isAlive)
  return alive.length === 0 ? null : Math.max(...alive.map(({ renewedAt }) => renewedAt))
}

/** Scans at most this many pages of running jobs, oldest first, so that jobs of a dead process come early. */
const LOOKED_AT_PAGES = 10

/** Dead processes that still hold jobs. A dead process without jobs needs no attention. */
async function deadHolders(
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

function processes(instances: readonly InstanceRecord[], holders: ReadonlySet<string>): MillDiagnostic[] {
  const now = lastSeenAt(instances)
  const unseen = instances.filter(
    ({ id, expiresAt }) => holders.has(id) && (now === null || now - expiresAt > REAPED_WITHIN_MS),
  )
  if (unseen.length === 0) {
    const alive = instances.filter(isAlive).map(nameOf)
    const message = alive.length === 0 ? 'no process is running' : `running: ${alive.join(', ')}`
    return [about(ok('instances', message))]
  }
  return unseen.map((one) => {
    const fix =
      now === null
        ? 'Start a process, which reclaims the jobs'
        : 'Check the logs of the running processes for "reap", then restart them'
    const message = `${nameOf(one)} stopped responding, and its jobs were not reclaimed`
    return about(warning('instances', message, fix), 'instance', one.id)
  })
}

function served(
  unservedKinds: readonly UnservedKind[],
  instances: readonly InstanceRecord[],
): MillDiagnostic[] {
  if (unservedKinds.length === 0) return [about(ok('served', 'every kind with waiting jobs has a worker'))]
  const nobody = !instances.some(isAlive)
  return unservedKinds.map(({ queue, kind, jobs }) => {
    // The store stops counting at this number.
    const many = jobs >= UNSERVED_ROWS ? `${countText(jobs, 'job')} or more` : countText(jobs, 'job')
    const which = `${many} of kind ${quote(kind)} in queue ${quote(queue)}`
    const message = `${which} ${jobs === 1 ? 'has' : 'have'} no worker`
    const fix = nobody
      ? 'Start a worker: jobmill work'
      : `Start a worker that handles ${quote(kind)} on queue ${quote(queue)}, or cancel the jobs`
    return about(warning('served', message, fix), 'kind', kind)
  })
}

/** Duties cannot run while no process is running, so nothing is reported then. */
function duties(
  all: readonly DutyView[],
  instances: readonly InstanceRecord[],
  periods: ReadonlyMap<string, number>,
): MillDiagnostic[] {
  const now = lastSeenAt(instances)
  if (now === null) return []
  const diagnostics = all.flatMap(({ name, leader, failures, lastSuccessAt }) => {
    const by = instances.find(({ id }) => id === leader)
    const fix = `Check the log of ${by === undefined ? 'the processes' : nameOf(by)} for "${name}"`
    const late = (message: string): MillDiagnostic[] => [about(warning('duties', message, fix), 'duty', name)]
    if (failures > 0) return late(`duty ${quote(name)} has failed ${countText(failures, 'time')} in a row`)
    const allowedMs = 3 * (periods.get(name) ?? SOME_PERIOD_MS) + DEFAULTS.dutyDeadlineMs
    const agoMs = now - (lastSuccessAt ?? Math.min(...instances.filter(isAlive).map((one) => one.startedAt)))
    return agoMs <= allowedMs ? [] : late(`duty ${quote(name)} has not succeeded for ${spanText(agoMs)}`)
  })
  return diagnostics.length > 0 ? diagnostics : [about(ok('duties', `all ${all.length} duties are on time`))]
}

/** Informational: an operator paused these queues. */
function paused(queues: readonly QueueRecord[]): MillDiagnostic[] {
  const names = queues.filter((queue) => queue.paused).map(({ name }) => quote(name))
  return names.length === 0 ? [] : [about(ok('paused', `paused: ${names.join(', ')}`))]
}

function settings(drift: readonly ConfigDrift[], hidesPayloads: boolean): MillDiagnostic[] {
  return drift
    .filter(({ field }) => field !== 'paused')
    .map((difference) => {
      const { what, name, field, override } = difference
      const message = driftText(difference, hidesPayloads)
      const orElse = field === 'deleted' ? 'remove the schedule from code' : 'set the value in code'
      const fix =
        override === null
          ? 'Restart the processes whose code should apply; a process with different code started later'
          : `Run "jobmill overrides reset ${what} ${name} ${field}", or ${orElse}`
      return about(warning('settings', `${what} ${quote(name)}: ${message}`, fix), what, name)
    })
}

function driftText({ field, code, stored }: ConfigDrift, hidesPayloads: boolean): string {
  if (hidesPayloads && field === 'payload') return 'payload differs from code'
  if (field === 'deleted') return 'deleted by an operator, but still defined in code'
  return `${field} is ${JSON.stringify(stored)}, but code says ${JSON.stringify(code)}`
}
