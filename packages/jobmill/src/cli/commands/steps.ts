/**
 * `jobmill jobs steps`: the durable steps of a job. `jobs rewind` and `jobs fork`: run it again from one of
 * them. `jobmill events send`: an event for a job that waits.
 */
import { safeText } from '../../job/text/safe-text.ts'
import { spanText } from '../../job/text/span-text.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Mill } from '../../runtime/mill.ts'
import { table } from '../output/table.ts'
import type { Command, ParsedArguments } from '../program/command.ts'
import { conflict, invalid } from '../program/invalid.ts'
import { jsonOf } from '../program/typed-values.ts'
import { answerWith } from '../with-mill.ts'

type Step = NonNullable<Awaited<ReturnType<Mill['steps']>>>[number]

const jobsSteps: Command = {
  words: 'jobs steps',
  takes: 'ID',
  arguments: [1, 1],
  says: 'show the durable steps of a job: what ran, what it returned, and what it waits for',
  fields: { id: 'ID' },
  examples: ['jobmill jobs steps 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [id = ''] = parsed.words
      const steps = await mill.steps(id)
      if (steps === null) {
        const fix = 'Check the id and the database; the job may have been deleted'
        throw invalid('ID', 'job not found', fix, id, 'JOB_UNKNOWN')
      }
      const now = systemPlatform.now()
      const rows = steps.map((step) => [
        safeText(step.name),
        statusOf(step, now),
        tookOf(step, now),
        resultOf(step),
      ])
      const text =
        rows.length === 0 ? 'no steps' : table(['step', 'status', 'duration', 'result'], rows, '', terminal)
      return { json: { steps }, text }
    }),
}

const FROM = { from: { takes: 'STEP', says: 'the first step that runs again' } }

function fromOf(parsed: ParsedArguments): string {
  const from = parsed.text('from')
  if (from !== undefined) return from
  throw invalid(
    '--from',
    'is missing',
    'Pass the name of the first step that runs again',
    undefined,
    'NAME_INVALID',
  )
}

const jobsRewind: Command = {
  words: 'jobs rewind',
  takes: 'ID',
  arguments: [1, 1],
  says: 'run an ended job again from one of its steps; earlier steps keep their results',
  options: FROM,
  fields: { id: 'ID', 'options.from': '--from' },
  examples: ['jobmill jobs rewind 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e --from report'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [id = ''] = parsed.words
      const answer = await mill.rewind(id, { from: fromOf(parsed) })
      const { verdict, state, hint = '' } = answer
      if (verdict !== 'changed') throw invalid('ID', 'the job cannot be rewound', hint, id, 'OPTION_INVALID')
      return { json: answer, text: `rewound ${id}: it is ${state ?? 'unknown'}` }
    }),
}

const jobsFork: Command = {
  words: 'jobs fork',
  takes: 'ID [JSON]',
  arguments: [1, 2],
  says: 'enqueue a copy of a job that starts at one of its steps, with the results of earlier steps; JSON is a new payload',
  options: FROM,
  fields: { id: 'ID', 'options.from': '--from', payload: 'JSON' },
  examples: [
    `jobmill jobs fork 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e --from report '{"email":"ada@example.com"}'`,
  ],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [id = '', json] = parsed.words
      const payload = json === undefined ? {} : { payload: jsonOf(json, 'payload') }
      const job = await mill.fork(id, { from: fromOf(parsed), ...payload })
      return { json: { id: job.id }, text: `enqueued ${job.id}` }
    }),
}

const KEY = 'dedupe-key'

const eventsSend: Command = {
  words: 'events send',
  takes: '[ID] EVENT [JSON]',
  arguments: [1, 3],
  says: 'send an event to a job, or to the job that holds a dedupe key; the payload defaults to null',
  options: { [KEY]: { takes: 'KEY', says: 'send it to the job that holds this key, instead of ID' } },
  fields: { target: 'ID', event: 'EVENT', 'target.dedupeKey': `--${KEY}` },
  examples: [
    `jobmill events send 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e survey '{"score":9}'`,
    `jobmill events send --${KEY} order:7 paid`,
  ],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const { target, event, payload } = sentBy(parsed)
      const { id } = await mill.sendEvent(target, event, payload)
      return { json: { id, event }, text: `sent ${safeText(event)} to ${id}` }
    }),
}

function sentBy(parsed: ParsedArguments) {
  const dedupeKey = parsed.text(KEY)
  const { words } = parsed
  if (dedupeKey !== undefined) {
    if (words.length > 2) throw conflict('ID', `cannot be combined with --${KEY}`, 'Remove one of them')
    const [event = '', json] = words
    return { target: { dedupeKey }, event, payload: payloadOf(json) }
  }
  const [target = '', event, json] = words
  if (event === undefined)
    throw invalid(
      'EVENT',
      'is missing',
      `Pass the id of a job and the event, or --${KEY}`,
      undefined,
      'NAME_INVALID',
    )
  return { target, event, payload: payloadOf(json) }
}

function payloadOf(json: string | undefined): unknown {
  return json === undefined ? null : jsonOf(json, 'payload')
}

function statusOf({ kind, endedAt, dueAt, events, result, children }: Step, now: number): string {
  const left = dueAt === null || dueAt <= now ? '' : `, ${spanText(dueAt - now)} left`
  if (endedAt === null) {
    if (kind === 'sleep') return `sleeping${left}`
    if (kind === 'child')
      return `waiting for ${children.filter((child) => child.endedAs === null).length} of ${children.length} children`
    return kind === 'event' ? safeText(`waiting for ${events.join(' or ')}${left}`) : 'not recorded yet'
  }
  if (kind === 'sleep') return 'slept'
  if (kind !== 'event') return 'recorded'
  return result === undefined ? 'timed out' : 'received'
}

function tookOf({ startedAt, endedAt }: Step, now: number): string {
  return spanText((endedAt ?? now) - startedAt)
}

const MOST_CHARS = 60

function resultOf({ result, checkpoint }: Step): string {
  const value = result ?? checkpoint
  if (value === undefined) return ''
  const text = safeText(JSON.stringify(value))
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text
}

export const steps: readonly Command[] = [jobsSteps, jobsRewind, jobsFork, eventsSend]
