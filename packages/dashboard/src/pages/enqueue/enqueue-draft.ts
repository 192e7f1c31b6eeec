/** The state of the enqueue form: the text of its fields, and the request built from them. */
import type { Job } from '../../api/types.ts'
import { readJson } from '../../kit/json/json-problem.ts'
import {
  durationOf,
  collectFields,
  instantOf,
  nameOf,
  type ParseResult,
  tagsOf,
  wholeOf,
} from '../../kit/forms/parse-input.ts'
import { numberCopies } from './counted.ts'
import { exampleOf } from './example/example.ts'
import type { Schema } from './validate/checking.ts'

/** The names that the server uses. */
export const FIELDS = [
  'kind',
  'payload',
  'queue',
  'priority',
  'when',
  'delay',
  'runAt',
  'maxAttempts',
  'timeout',
  'tags',
  'dedupeKey',
  'orderKey',
  'copies',
  'vary',
] as const
export type EnqueueField = (typeof FIELDS)[number]
export type EnqueueDraft = Readonly<Record<EnqueueField, string>>
export type Wrong = Partial<Record<EnqueueField, string>>

/** The fields copied from an existing job. */
export type Like = Pick<Job, 'kind' | 'payload' | 'queue' | 'priority' | 'tags' | 'maxAttempts'>

export function draftLike(like: Like | undefined): EnqueueDraft {
  return {
    kind: like?.kind ?? '',
    payload: payloadText(like?.payload ?? null),
    queue: like?.queue ?? '',
    priority: like === undefined ? '' : String(like.priority),
    when: 'now',
    delay: '',
    runAt: '',
    maxAttempts: like === undefined ? '' : String(like.maxAttempts),
    timeout: '',
    tags: like?.tags.join(', ') ?? '',
    dedupeKey: '',
    orderKey: '',
    copies: '1',
    vary: 'written',
  }
}

export const MOST_COPIES = 1_000

export interface EnqueueInput {
  readonly path: 'jobs' | 'jobs/many'
  readonly body: Readonly<Record<string, unknown>>
  readonly copies: number
  readonly wrong: Wrong
}

export function requestOf(draft: EnqueueDraft, schema: Schema | null): EnqueueInput {
  const { values, wrong } = collectFields<EnqueueField>(readsOf(draft))
  if (draft.kind.trim() === '') wrong.kind = 'Required.'
  if (draft.when === 'delay' && draft.delay.trim() === '') wrong.delay = 'Enter a delay.'
  if (draft.when === 'at' && draft.runAt === '') wrong.runAt = 'Enter a date and time.'
  const { kind, payload, copies = 1, when: _when, vary: _vary, ...options } = values
  const many = Number(copies)
  if (many === 1) return { path: 'jobs', body: { kind, payload, ...options }, copies: many, wrong }
  const isVaried = draft.vary === 'varied'
  const jobs = Array.from({ length: Object.keys(wrong).length > 0 ? 0 : many }, (_, n) => ({
    ...(numberCopies(options, n + 1) as object),
    payload: isVaried ? exampleOf(schema, n) : numberCopies(payload, n + 1),
  }))
  return { path: 'jobs/many', body: { kind, jobs }, copies: many, wrong }
}

function readsOf(draft: EnqueueDraft): Record<EnqueueField, ParseResult<unknown>> {
  const payload = readJson(draft.payload)
  const tags = tagsOf(draft.tags)
  return {
    kind: nameOf(draft.kind),
    payload: 'value' in payload ? payload : { wrong: 'Enter valid JSON.' },
    queue: nameOf(draft.queue),
    priority: wholeOf(draft.priority, { least: -32_768, most: 32_767 }),
    when: { value: undefined },
    delay: draft.when === 'delay' ? durationOf(draft.delay) : { value: undefined },
    runAt: draft.when === 'at' ? instantOf(draft.runAt) : { value: undefined },
    maxAttempts: wholeOf(draft.maxAttempts, { least: 1, most: 10_000 }),
    timeout: durationOf(draft.timeout),
    tags: { value: tags.length === 0 ? undefined : tags },
    dedupeKey: textOf(draft.dedupeKey),
    orderKey: textOf(draft.orderKey),
    copies: wholeOf(draft.copies, { least: 1, most: MOST_COPIES }),
    vary: { value: undefined },
  }
}

const textOf = (text: string): ParseResult<string> => ({
  value: text.trim() === '' ? undefined : text.trim(),
})

/** No browser lays out hundreds of thousands of lines, so a large payload is shown on one line. */
const MOST_LAID_OUT = 50_000

function payloadText(payload: unknown): string {
  const short = JSON.stringify(payload)
  return short.length > MOST_LAID_OUT ? short : JSON.stringify(payload, null, 2)
}
