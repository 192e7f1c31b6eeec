/** Suggestions for the part of the filter that is being typed. */
import { LISTED_STATES } from '../../../api/states.ts'
import { isTimeKey, KEYS, type TimeKey, TIMES } from './filter.ts'
import { partsOf, printValue } from './parts.ts'

export interface KnownNames {
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  readonly tags: readonly string[]
  readonly versions: readonly string[]
  readonly mayPayload: boolean
}

export interface Suggestion {
  /** The text that replaces the part; empty for a suggestion that opens a job. */
  readonly insert: string
  /** The part is complete after this suggestion. */
  readonly isWhole: boolean
  readonly note: string
  /** The job that the suggestion opens. */
  readonly opens?: string
}

export interface Suggested {
  /** The part that is being typed. */
  readonly from: number
  readonly to: number
  readonly items: readonly Suggestion[]
}

const NOTES: Readonly<Record<string, string>> = {
  queue: 'queue name',
  kind: 'job kind',
  state: 'job state',
  tag: 'job tag',
  error: 'last error contains',
  version: 'last attempt ran on this version',
  order: 'order key',
  group: 'group in its queue',
  dedupe: 'dedupe key, with or without its scope',
  'payload.': 'payload value: payload.user.id:42',
}

const AGO: Readonly<Record<string, string>> = {
  '10m': '10 minutes',
  '15m': '15 minutes',
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
}

/** Describes a key of the filter, such as `failed at or after`. */
function noteOf(key: string): string {
  if (!isTimeKey(key)) return NOTES[key] ?? ''
  const { label, side } = TIMES[key]
  return `${label} ${side === 'after' ? 'at or after' : side}`
}

const MOST = 20
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

export function suggest(text: string, caret: number, known: KnownNames): Suggested {
  const part = partsOf(text).find(({ from, to }) => from < caret && caret <= to)
  const from = part?.from ?? caret
  const to = part?.to ?? caret
  const written = text.slice(from, caret)
  return { from, to, items: itemsFor(written, known).slice(0, MOST) }
}

function itemsFor(written: string, known: KnownNames): readonly Suggestion[] {
  const values = valuesOf(known)
  const [, key = '', begun = ''] = /^([a-z-]+):"?(.*)$/is.exec(written) ?? []
  const name = key.toLowerCase()
  if (isTimeKey(name)) return times(name, begun)
  if (key !== '')
    return matching(Object.hasOwn(values, name) ? values[name] : [], begun).map((value) => whole(name, value))
  if (ID.test(written))
    return [{ insert: '', isWhole: true, note: 'open this job', opens: written.toLowerCase() }]
  const keys = [...KEYS.map((one) => `${one}:`), ...(known.mayPayload ? ['payload.'] : [])]
    .filter((one) => one.startsWith(written.toLowerCase()))
    .map((one) => ({ insert: one, isWhole: false, note: noteOf(one.replace(':', '')) }))
  if (written === '') return keys
  const found = Object.entries(values).flatMap(([one, all]) =>
    matching(all, written)
      .slice(0, 3)
      .map((value) => whole(one, value)),
  )
  return [...keys, ...found]
}

const valuesOf = ({
  queues,
  kinds,
  tags,
  versions,
}: KnownNames): Readonly<Record<string, readonly string[]>> => ({
  queue: queues,
  kind: kinds,
  state: LISTED_STATES,
  tag: tags,
  version: versions,
})

const whole = (key: string, value: string): Suggestion => ({
  insert: `${key}:${printValue(value)}`,
  isWhole: true,
  note: '',
})

function times(key: TimeKey, begun: string): readonly Suggestion[] {
  return Object.entries(AGO)
    .filter(([time]) => time.startsWith(begun))
    .map(([time, words]) => ({
      insert: `${key}:${time}`,
      isWhole: true,
      note: TIMES[key].side === 'after' ? `in the last ${words}` : `more than ${words} ago`,
    }))
}

/** Names that start with the text come first. */
function matching(values: readonly string[] | undefined, begun: string): readonly string[] {
  const low = begun.toLowerCase()
  const found = (values ?? []).filter((value) => value.toLowerCase().includes(low))
  return found.toSorted(
    (a, b) => Number(b.toLowerCase().startsWith(low)) - Number(a.toLowerCase().startsWith(low)),
  )
}
