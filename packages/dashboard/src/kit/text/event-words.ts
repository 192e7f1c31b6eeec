/** Describes lifecycle events in a sentence each. */
import type { TimelineEntry } from '../../api/types.ts'
import { auditWords, changesText } from './audit-words.ts'
import { plural, span } from './format.ts'

type Data = Readonly<Record<string, unknown>>
type Words = (data: Data, entry: TimelineEntry) => string

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '?' : JSON.stringify(value)
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
const many = (value: unknown): number => (Array.isArray(value) ? value.length : count(value))
const long = (ms: unknown): string => span(Math.round(count(ms)))
/** The stack follows the first line of an error. */
const firstLine = (value: unknown): string => text(value).split('\n', 1)[0] ?? ''

/** The label of a process often contains its version. */
function processName(label: unknown, version: unknown): string {
  const name = typeof label === 'string' ? label : 'Process'
  return typeof version !== 'string' || name.includes(version) ? name : `${name} ${version}`
}

const WORDS: Readonly<Record<string, Words>> = {
  'kind-unknown': ({ kind, near }) =>
    `A ${text(kind)} job was enqueued, but the process that enqueued it has no handler for this kind. Did you mean ${text(near)}?`,
  'queue-unknown': ({ near }, { queue }) =>
    `A job was enqueued to ${text(queue)}, but the process that enqueued it has no such queue. Did you mean ${text(near)}?`,
  'lease-lost': ({ kind }) => `A ${text(kind)} job lost its lease; its outcome was not saved`,
  stuck: ({ kind, sinceMs }) =>
    `A ${text(kind)} job was asked to stop ${long(sinceMs)} ago and is still running`,
  'queue-cooling': ({ forMs }, { queue }) => `Queue ${text(queue)} paused by throttling for ${long(forMs)}`,
  'queue-resumed': (_, { queue }) => `Queue ${text(queue)} resumed`,
  'queue-changed': ({ before, after }, { queue }) => {
    const changes = changesText(before, after)
    return `Settings of queue ${text(queue)} changed${changes === '' ? '' : `: ${changes}`}`
  },
  'settings-differ': ({ what, name, field }) =>
    `Configuration drift: ${text(what)} ${text(name)} differs from code in ${text(field)}`,
  'limit-drained': ({ limit, key, forMs }) => {
    const whose = typeof key === 'string' ? `${text(limit)}, key ${key},` : text(limit)
    return count(forMs) === 0 ? `Limit ${whose} was drained` : `Limit ${whose} is drained for ${long(forMs)}`
  },
  'schedule-fired': ({ schedule, outcome }) =>
    outcome === 'skipped'
      ? `Schedule ${text(schedule)} skipped a run: the previous job has not ended`
      : `Schedule ${text(schedule)} enqueued a job`,
  'schedule-missed': ({ schedule, missed }) =>
    `Schedule ${text(schedule)} missed ${plural(count(missed), 'run')}`,
  'schedule-failing': ({ schedule, error }) =>
    `Schedule ${text(schedule)} failed to enqueue: ${firstLine(error)}`,
  reaped: ({ jobs, instances }) =>
    `Reclaimed ${plural(many(jobs), 'job')} from ${plural(many(instances), 'unresponsive process', 'unresponsive processes')}`,
  'steps-unused': ({ kind, steps }) =>
    `Job of kind ${text(kind)} completed without recorded steps${Array.isArray(steps) ? `: ${steps.map(text).join(', ')}` : ''}`,
  'leases-found': ({ jobs }) => `Returned ${plural(many(jobs), 'job')} whose claim got no response`,
  'instance-lost': ({ jobs, blocked }) =>
    `Process ${blocked === true ? 'stalled' : 'could not renew its leases in time'}; asked ${plural(many(jobs), 'running job')} to stop`,
  'instance-back': () => 'Lost process reconnected',
  'store-failing': ({ part, error }) => `Can't reach the database (${text(part)}): ${firstLine(error)}`,
  'store-back': ({ part }) => `Database is back (${text(part)})`,
  'duty-failing': ({ duty, error }) => `Duty ${text(duty)} failed: ${firstLine(error)}`,
  'duty-back': ({ duty, failures }) =>
    `Duty ${text(duty)} recovered after ${plural(count(failures), 'failure')}`,
  leading: ({ duty }) => `Process became leader of ${text(duty)}`,
  led: ({ duty }) => `Process is no longer leader of ${text(duty)}`,
  rebalanced: ({ changed }) => `Workers rebalanced (${plural(count(changed), 'assignment')} changed)`,
  'mill-started': ({ label, version, queues, kinds }) =>
    `${processName(label, version)} started with ${plural(many(queues), 'queue')} and ${plural(many(kinds), 'kind')}`,
  'mill-quiet': ({ running, by }) =>
    `Process is quiet (requested by ${text(by)}), ${plural(count(running), 'job')} running`,
  'mill-resumed': () => 'Quiet process claims jobs again',
  'stop-requested': ({ by }) => `Process stop requested by ${text(by)}`,
  'mill-stopping': ({ running }) => `Process stopping, ${plural(count(running), 'job')} running`,
  'mill-stopped': ({ finished, returned }) =>
    `Process stopped: ${plural(count(finished), 'job')} finished, ${count(returned)} returned to the queue`,
  'payload-patched': ({ by }) => `Retried by ${text(by)} with a patched payload`,
  audit: auditWords,
}

/** An unknown type, from a newer server, is shown as its name. */
export function eventWords(entry: TimelineEntry): string {
  return WORDS[entry.type]?.(entry.data, entry) ?? entry.type.replaceAll('-', ' ')
}

const BAD = new Set(['instance-lost', 'store-failing', 'duty-failing', 'schedule-failing'])
const WARNINGS = new Set([
  'kind-unknown',
  'queue-unknown',
  'lease-lost',
  'stuck',
  'queue-cooling',
  'settings-differ',
  'limit-drained',
  'schedule-missed',
  'reaped',
  'leases-found',
  'steps-unused',
])

export function eventLevel({ type }: Pick<TimelineEntry, 'type'>): 'bad' | 'warning' | 'plain' {
  if (BAD.has(type)) return 'bad'
  return WARNINGS.has(type) ? 'warning' : 'plain'
}
