/** All enqueue options as options of the command line. */
import type { EnqueueOptions } from '../../job/enqueue/handle.ts'
import { DEDUPE_SCOPES } from '../../job/enqueue/new-job.ts'
import type { DebounceRequest, DedupeRequest } from '../../job/enqueue/dedupe-options.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import { fieldsOf } from '../program/own-words.ts'
import { jsonOf, lengthOf, numberOf } from '../program/typed-values.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { invalid } from '../program/invalid.ts'

export const ENQUEUE_OPTIONS: Readonly<Record<string, Option>> = {
  queue: { takes: 'NAME', says: 'queue to enqueue into' },
  priority: { takes: 'N', says: 'a lower number runs first (default 0)' },
  delay: { takes: 'DURATION', says: 'run after this delay: 90s, 1h30m' },
  'run-at': { takes: 'INSTANT', says: 'run at this time: 2027-01-31T09:00:00Z' },
  'max-attempts': { takes: 'N', says: 'attempts before the job is dead (default 5)' },
  timeout: { takes: 'DURATION', says: 'time limit of one attempt' },
  tag: { takes: 'TEXT', says: 'tag to filter by', multiple: true },
  'dedupe-key': { takes: 'KEY', says: 'allow at most one job with this key at a time' },
  'dedupe-scope': { takes: 'SCOPE', says: `where the key must be unique: ${DEDUPE_SCOPES.join(', ')}` },
  'dedupe-hold-for': { takes: 'DURATION', says: 'also reject duplicates this long after the job is done' },
  'dedupe-hold-after': {
    takes: 'END',
    says: 'when --dedupe-hold-for applies: done (default), or ended to include dead and cancelled jobs',
  },
  'dedupe-window': { takes: 'DURATION', says: 'reject duplicates this long after the enqueue instead' },
  'dedupe-until': {
    takes: 'STATE',
    says: 'hold the key until the job has ended (default), or until it has started',
  },
  'on-conflict': {
    takes: 'HOW',
    says: 'keep the existing job (default), or replace its payload and due time',
  },
  debounce: { takes: 'KEY', says: 'run once, with the last payload, when no more jobs with this key arrive' },
  'debounce-wait': { takes: 'DURATION', says: 'how long no other job must arrive' },
  'debounce-max-wait': { takes: 'DURATION', says: 'run at the latest this long after the first job' },
  'order-key': { takes: 'KEY', says: 'jobs in a queue with the same key run one at a time, in order' },
  group: { takes: 'NAME', says: 'group of the job in its queue, such as a tenant' },
  id: { takes: 'UUID', says: 'job id; enqueuing the same id again is a no-op' },
  metadata: { takes: 'JSON', says: 'JSON object stored with the job' },
}

/** Maps the library's field names to options. */
export const ENQUEUE_FIELDS: Readonly<Record<string, string>> = {
  ...fieldsOf('job', ENQUEUE_OPTIONS),
  'job.kind': 'KIND',
  'job.payload': 'payload',
  'job.tags': '--tag',
  'job.dedupe.key': '--dedupe-key',
  'job.dedupe.scope': '--dedupe-scope',
  'job.dedupe.holdFor': '--dedupe-hold-for',
  'job.dedupe.holdAfter': '--dedupe-hold-after',
  'job.dedupe.onConflict': '--on-conflict',
  'job.dedupe.window': '--dedupe-window',
  'job.dedupe.until': '--dedupe-until',
  'job.debounce.key': '--debounce',
  'job.debounce.wait': '--debounce-wait',
  'job.debounce.maxWait': '--debounce-max-wait',
}

export function enqueueOptionsOf(parsed: ParsedArguments): EnqueueOptions {
  const tags = parsed.texts('tag')
  const metadata = parsed.text('metadata')
  return omitUndefined({
    queue: parsed.text('queue'),
    priority: numberOf(parsed, 'priority'),
    delay: lengthOf(parsed, 'delay'),
    runAt: parsed.text('run-at'),
    maxAttempts: numberOf(parsed, 'max-attempts'),
    timeout: lengthOf(parsed, 'timeout'),
    tags: tags.length === 0 ? undefined : tags,
    dedupe: dedupeOf(parsed),
    debounce: debounceOf(parsed),
    orderKey: parsed.text('order-key'),
    group: parsed.text('group'),
    id: parsed.text('id'),
    // The library checks the value.
    metadata:
      metadata === undefined ? undefined : (jsonOf(metadata, '--metadata') as Record<string, unknown>),
  })
}

function dedupeOf(parsed: ParsedArguments): DedupeRequest | undefined {
  const key = parsed.text('dedupe-key')
  const how = omitUndefined({
    scope: parsed.text('dedupe-scope') as DedupeRequest['scope'],
    holdFor: lengthOf(parsed, 'dedupe-hold-for'),
    holdAfter: parsed.text('dedupe-hold-after') as DedupeRequest['holdAfter'],
    onConflict: parsed.text('on-conflict') as DedupeRequest['onConflict'],
    window: lengthOf(parsed, 'dedupe-window'),
    until: parsed.text('dedupe-until') as DedupeRequest['until'],
  })
  if (key !== undefined) return { key, ...how }
  if (Object.keys(how).length === 0) return undefined
  const fix = 'Pass the key that --on-conflict and the other --dedupe options apply to'
  throw invalid('--dedupe-key', 'is missing', fix)
}

function debounceOf(parsed: ParsedArguments): DebounceRequest | undefined {
  const key = parsed.text('debounce')
  const [wait, maxWait] = [lengthOf(parsed, 'debounce-wait'), lengthOf(parsed, 'debounce-max-wait')]
  if (key === undefined && wait === undefined && maxWait === undefined) return undefined
  if (key === undefined)
    throw invalid('--debounce', 'is missing', 'Pass the key of the jobs that are debounced together')
  if (wait === undefined)
    throw invalid('--debounce-wait', 'is missing', 'Pass how long to wait for more jobs, such as 5s')
  return { key, wait, ...(maxWait !== undefined && { maxWait }) }
}
