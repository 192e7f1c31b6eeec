/** Says in a sentence who changed what. */

type Data = Readonly<Record<string, unknown>>

/** Past tense, by action. An unknown action, from a newer server, is shown by its name. */
const DID: Readonly<Record<string, string>> = {
  'queues.change': 'changed queue',
  'queues.pause': 'paused queue',
  'queues.resume': 'resumed queue',
  'groups.change': 'changed group',
  'schedules.create': 'created schedule',
  'schedules.change': 'changed schedule',
  'schedules.pause': 'paused schedule',
  'schedules.resume': 'resumed schedule',
  'schedules.trigger': 'ran schedule',
  'schedules.delete': 'deleted schedule',
  'limits.create': 'created limit',
  'limits.change': 'changed limit',
  'limits.drain': 'drained limit',
  'limits.delete': 'deleted limit',
  'duties.run': 'ran duty',
  'workers.quiet': 'quieted process',
  'workers.resume': 'resumed process',
  'workers.stop': 'stopped process',
  'views.add': 'saved view',
  'views.delete': 'deleted view',
  'jobs.enqueue': 'enqueued job',
  'jobs.retry': 'retried job',
  'jobs.cancel': 'cancelled job',
  'jobs.run-now': 'ran job now',
  'jobs.delete': 'deleted job',
  'jobs.rewind': 'rewound job',
  'jobs.fork': 'forked job',
  'jobs.send-event': 'sent an event to job',
  'jobs.send-event-by-key': 'sent an event to job',
  'alerts.delete': 'deleted alert rule',
  'alerts.test': 'sent a test of alert rule',
  'overrides.reset': 'reset overrides of',
}

/** Actions of which the target alone says too little. */
const SAID: Readonly<Record<string, (data: Data) => string>> = {
  'bulk.run': ({ after }) => `started a bulk ${text(fieldOf(after, 'act'))}`,
  'jobs.enqueue-many': ({ after }) =>
    `enqueued ${text(fieldOf(after, 'jobs'))} jobs of kind ${text(fieldOf(after, 'kind'))}`,
  'alerts.set': ({ target, before }) =>
    `${isObject(before) ? 'changed' : 'created'} alert rule ${text(target)}`,
  'overrides.reset-all': () => 'reset all overrides',
  'overrides.reset-option': ({ target, before }) => {
    const options = Array.isArray(before) ? before.map((one) => text(fieldOf(one, 'option'))) : []
    return `reset ${options.length === 0 ? 'an override' : options.join(', ')} of ${text(target)}`
  },
}

const MOST_CHANGES = 3
const MOST_CHARS = 40

export function auditWords(entry: Data): string {
  const { who, what, target, before, after } = entry
  const said = SAID[text(what)]
  if (said !== undefined) return `${text(who)} ${said(entry)}`
  const did = DID[text(what)]
  if (did === undefined) return `${text(who)}: ${text(what)} on ${text(target)}`
  const changes = text(what).endsWith('.change') ? changesText(before, after) : ''
  return `${text(who)} ${did} ${text(target)}${changes === '' ? '' : `: ${changes}`}`
}

/** `workers 2 → 7, limit none → smtp, 2 more`; empty when nothing is known to differ. */
export function changesText(before: unknown, after: unknown): string {
  const changes = changesIn(before, after)
  const more = changes.length > MOST_CHANGES ? [`${changes.length - MOST_CHANGES} more`] : []
  return [...changes.slice(0, MOST_CHANGES), ...more].join(', ')
}

/** `workers 2 → 7`, for each field that both have and that differs. */
function changesIn(before: unknown, after: unknown): string[] {
  if (!isObject(before) || !isObject(after)) return []
  return Object.keys(after)
    .filter((key) => key in before && JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => `${key} ${shown(before[key])} → ${shown(after[key])}`)
}

function shown(value: unknown): string {
  const words = value === null ? 'none' : text(value)
  return words.length > MOST_CHARS ? `${words.slice(0, MOST_CHARS - 1)}…` : words
}

const fieldOf = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '?' : JSON.stringify(value)
}
