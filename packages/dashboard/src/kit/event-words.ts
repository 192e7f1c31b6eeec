/** What happened, in a sentence: an entry of the timeline as people read it. */
import type { TimelineEntry } from '../api/types/history.ts'
import { plural, span } from './format.ts'

type Data = Readonly<Record<string, unknown>>
type Words = (data: Data, entry: TimelineEntry) => string

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '?' : JSON.stringify(value)
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
const many = (value: unknown): number => (Array.isArray(value) ? value.length : count(value))
const long = (ms: unknown): string => span(Math.round(count(ms)))
/** Errors have their stack below. */
const firstLine = (value: unknown): string => text(value).split('\n', 1)[0] ?? ''

const WORDS: Readonly<Record<string, Words>> = {
  'kind-unknown': ({ kind, near }) =>
    `A job of the kind ${text(kind)} was enqueued, which its process does not run. Did you mean ${text(near)}?`,
  'lease-lost': ({ kind }) =>
    `A job of the kind ${text(kind)} had lost its lease: its outcome was not written`,
  stuck: ({ kind, sinceMs }) =>
    `A job of the kind ${text(kind)} was asked to stop ${long(sinceMs)} ago and still runs`,
  'queue-cooling': ({ forMs }, { queue }) => `Queue ${text(queue)} cools down for ${long(forMs)}`,
  'queue-resumed': (_, { queue }) => `Queue ${text(queue)} goes on`,
  'queue-changed': (_, { queue }) => `The settings of queue ${text(queue)} were changed`,
  'settings-differ': ({ what, name, field }) =>
    `The ${text(what)} ${text(name)} differs from code in ${text(field)}`,
  'limit-drained': ({ limit, key, forMs }) => {
    const whose = typeof key === 'string' ? `${text(limit)}, key ${key},` : text(limit)
    return count(forMs) === 0
      ? `Limit ${whose} was emptied`
      : `Limit ${whose} grants nothing for ${long(forMs)}`
  },
  'schedule-fired': ({ schedule, outcome }) =>
    outcome === 'skipped'
      ? `Schedule ${text(schedule)} skipped a run: the one before has not ended`
      : `Schedule ${text(schedule)} enqueued a job`,
  'schedule-missed': ({ schedule, missed }) =>
    `Schedule ${text(schedule)} missed ${plural(count(missed), 'run')}`,
  'schedule-failing': ({ schedule, error }) =>
    `Schedule ${text(schedule)} cannot be served: ${firstLine(error)}`,
  reaped: ({ jobs, instances }) =>
    `Took back ${plural(many(jobs), 'job')} of ${plural(many(instances), 'process', 'processes')} that fell silent`,
  'leases-found': ({ jobs }) => `Handed back ${plural(many(jobs), 'job')} whose claim was never answered`,
  'instance-lost': ({ jobs, blocked }) =>
    `A process ${blocked === true ? 'stood still' : 'could not renew in time'}; ${plural(many(jobs), 'running job')} told to stop`,
  'instance-back': () => 'A process that was lost is back',
  'store-failing': ({ part, error }) => `The database cannot be reached (${text(part)}): ${firstLine(error)}`,
  'store-back': ({ part }) => `The database is back (${text(part)})`,
  'duty-failing': ({ duty, error }) => `The duty ${text(duty)} fails: ${firstLine(error)}`,
  'duty-back': ({ duty, failures }) =>
    `The duty ${text(duty)} works again after ${plural(count(failures), 'failure')}`,
  leading: ({ duty }) => `A process leads the duty ${text(duty)}`,
  led: ({ duty }) => `A process no longer leads the duty ${text(duty)}`,
  rebalanced: ({ changed }) => `The workers were split anew: ${plural(count(changed), 'share')} changed`,
  'mill-started': ({ queues, kinds }) =>
    `A process started with ${plural(many(queues), 'queue')} and ${plural(many(kinds), 'kind')}`,
  'mill-stopping': ({ running }) => `A process stops; ${plural(count(running), 'job')} still running`,
  'mill-stopped': ({ finished, handedBack }) =>
    `A process stopped: ${plural(count(finished), 'job')} finished, ${count(handedBack)} handed back`,
  audit: ({ who, what, target }) => `${text(who)} did ${text(what)} on ${text(target)}`,
}

/** One that is not known here, of a newer server, is told by its type. */
export function eventWords(entry: TimelineEntry): string {
  return WORDS[entry.type]?.(entry.data, entry) ?? entry.type.replaceAll('-', ' ')
}

const BAD = new Set(['instance-lost', 'store-failing', 'duty-failing', 'schedule-failing'])
const WARNINGS = new Set([
  'kind-unknown',
  'lease-lost',
  'stuck',
  'queue-cooling',
  'settings-differ',
  'limit-drained',
  'schedule-missed',
  'reaped',
  'leases-found',
])

export function eventLevel({ type }: Pick<TimelineEntry, 'type'>): 'bad' | 'warning' | 'plain' {
  if (BAD.has(type)) return 'bad'
  return WARNINGS.has(type) ? 'warning' : 'plain'
}
