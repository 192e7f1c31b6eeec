/** The options that filter jobs, shared by the commands that list and that change jobs. */
import { systemPlatform } from '../../platform/platform.ts'
import { checkState, LISTED_STATES, type ListFilter } from '../../runtime/operate/list-filter.ts'
import { checkPayloadAt, checkSought, readPayloadAt } from '../../store/payload-at.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import { fieldsOf } from '../program/own-words.ts'
import { momentOf } from '../program/typed-values.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'

export const FILTERS = {
  queue: { takes: 'NAMES', says: 'jobs of these queues: mail,reports', multiple: true },
  kind: { takes: 'NAMES', says: 'jobs of these kinds: a.send,b.send', multiple: true },
  state: {
    takes: 'STATES',
    says: `jobs in these states: ${LISTED_STATES.join(', ')} (scheduled after a failure)`,
    multiple: true,
  },
  version: {
    takes: 'NAMES',
    says: 'jobs whose last attempt ran on this version of your application: 2.15.0,2.14.0',
    multiple: true,
  },
  tag: { takes: 'TEXT', says: 'jobs with this tag; repeat to require several', multiple: true },
  from: { takes: 'WHEN', says: 'enqueued at or after: 2027-01-31T09:00:00Z, or 2h for two hours ago' },
  before: { takes: 'WHEN', says: 'enqueued before: an instant, or a duration before now' },
  'started-from': {
    takes: 'WHEN',
    says: 'last attempt started at or after: an instant, or a duration before now',
  },
  'started-before': {
    takes: 'WHEN',
    says: 'last attempt started before: an instant, or a duration before now',
  },
  'failed-from': {
    takes: 'WHEN',
    says: 'last failed attempt ended at or after: an instant, a duration before now, or 02:13 for the most recent 02:13 local time',
  },
  'failed-before': { takes: 'WHEN', says: 'last failed attempt ended before: as with --failed-from' },
  'ended-from': { takes: 'WHEN', says: 'ended at or after: an instant, or a duration before now' },
  'ended-before': { takes: 'WHEN', says: 'ended before: an instant, or a duration before now' },
  'order-key': { takes: 'KEY', says: 'jobs with this order key' },
  group: { takes: 'NAME', says: 'jobs of this group, such as a tenant' },
  'dedupe-key': { takes: 'KEY', says: 'jobs with this dedupe key, with or without its scope' },
  text: { takes: 'TEXT', says: 'payload JSON contains this text (case-sensitive)' },
  payload: {
    takes: 'PATH:VALUE',
    says: 'payload has this value: user.id:42, items.0.sku:a-1; repeat to require several',
    multiple: true,
  },
  'indexed-payload': {
    takes: 'PATH:VALUE',
    says: 'like --payload, from the index of paths that the kind declares in indexedPayload; finds no jobs enqueued before the path was declared',
    multiple: true,
  },
  error: { takes: 'TEXT', says: 'last error contains this text (case-sensitive; never matches done jobs)' },
} as const satisfies Readonly<Record<string, Option>>

/** Maps the library's field names for ids and filters to options. */
export const JOB_FIELDS: Readonly<Record<string, string>> = {
  id: 'ID',
  cursor: '--cursor',
  ...fieldsOf('filter', FILTERS),
  'filter.enqueuedFrom': '--from',
  'filter.enqueuedBefore': '--before',
}

export function filterOf(parsed: ParsedArguments): ListFilter {
  const now = systemPlatform.now()
  const states = separated(parsed, 'state')
  const tags = parsed.texts('tag')
  const values = parsed.texts('payload').map((text) => readPayloadAt(text, '--payload'))
  const indexed = parsed.texts('indexed-payload').map((text) => readPayloadAt(text, '--indexed-payload'))
  const errorText = parsed.text('error')
  return omitUndefined({
    queue: separated(parsed, 'queue'),
    kind: separated(parsed, 'kind'),
    version: separated(parsed, 'version'),
    state: states?.map((state) => checkState(state, '--state')),
    tags: tags.length === 0 ? undefined : tags,
    enqueuedFrom: momentOf(parsed, 'from', now),
    enqueuedBefore: momentOf(parsed, 'before', now),
    startedFrom: momentOf(parsed, 'started-from', now),
    startedBefore: momentOf(parsed, 'started-before', now),
    failedFrom: momentOf(parsed, 'failed-from', now),
    failedBefore: momentOf(parsed, 'failed-before', now),
    endedFrom: momentOf(parsed, 'ended-from', now),
    endedBefore: momentOf(parsed, 'ended-before', now),
    orderKey: parsed.text('order-key'),
    group: parsed.text('group'),
    dedupeKey: parsed.text('dedupe-key'),
    payloadText: parsed.text('text'),
    payloadAt: values.length === 0 ? undefined : checkPayloadAt(values, '--payload'),
    indexedPayload: indexed.length === 0 ? undefined : indexed,
    errorText: errorText === undefined ? undefined : checkSought(errorText, '--error'),
  })
}

/**
 * Splits at commas, which no name contains, and merges repeated options. Undefined when the option was not
 * passed.
 */
function separated(parsed: ParsedArguments, option: string): string[] | undefined {
  const texts = parsed.texts(option).flatMap((text) => text.split(','))
  return texts.length === 0 ? undefined : texts.map((text) => text.trim())
}
