/**
 * Parses filter text: adds the valid parts to the existing filter and reports the invalid ones. Never throws.
 */
import { LISTED_STATES } from '../../../api/states.ts'
import type { ListedState } from '../../../api/types.ts'
import {
  type Filter,
  isTimeKey,
  KEYS,
  MOST_CHARS,
  MOST_PAYLOAD,
  MOST_TAGS,
  NO_FILTER,
  recordOf,
  TIME_KEYS,
  TIMES,
  type Wrong,
} from './filter.ts'
import { type Part, partsOf } from './parts.ts'
import { readWhen, WHEN_FIX } from './when.ts'

export interface Parsed {
  readonly filter: Filter
  readonly wrong: readonly Wrong[]
}

interface How {
  /** The existing filter; typed parts replace its values. */
  readonly onto?: Filter
  /** Only operators can search payloads. */
  readonly mayPayload?: boolean
}

type Changed = Partial<Filter> | Omit<Wrong, 'part'>

const EXAMPLES: Readonly<Record<string, string>> = {
  queue: 'queue:mail',
  kind: 'kind:email.send',
  state: 'state:dead',
  tag: 'tag:vip',
  ...recordOf(TIME_KEYS, (key) => (TIMES[key].side === 'after' ? `${key}:1h` : `${key}:2026-11-16`)),
  error: 'error:"timed out"',
  version: 'version:2.15.0',
  order: 'order:customer-42',
  group: 'group:acme',
  dedupe: 'dedupe:invoice-42',
  payload: 'payload.user.id:42',
}

export function parse(text: string, { onto = NO_FILTER, mayPayload = true }: How = {}): Parsed {
  let filter = onto
  const wrong: Wrong[] = []
  const seen = new Set<string>()
  const words: string[] = []
  for (const part of partsOf(text)) {
    const changed = read(part, filter, seen, mayPayload)
    if ('says' in changed) wrong.push({ part: part.raw, ...changed })
    else if (part.key === null) words.push(part.value)
    else filter = { ...filter, ...changed }
  }
  const joined = words.join(' ')
  if (joined.length > MOST_CHARS) wrong.push({ part: joined, ...TOO_LONG })
  else if (words.length > 0) filter = { ...filter, text: joined }
  return { filter, wrong }
}

const TOO_LONG = { says: `is longer than ${MOST_CHARS} characters`, fix: 'Use a shorter text' }

function read(part: Part, filter: Filter, seen: Set<string>, mayPayload: boolean): Changed {
  const { key, path, value, isQuoted, isOpen } = part
  if (isOpen) return { says: 'has an unclosed quote', fix: 'Add " at the end' }
  if (value.length + path.length > MOST_CHARS) return TOO_LONG
  if ((key === null || key === 'payload') && !mayPayload)
    return { says: 'searches payloads, which requires the operator role', fix: `Use ${KEYS.join(', ')}` }
  if (key === null) return value === '' ? { says: 'is empty', fix: 'Enter text between the quotes' } : {}
  if (!Object.hasOwn(EXAMPLES, key))
    return {
      says: `starts with "${key}", which is not a filter key`,
      fix: `Use ${KEYS.join(', ')} or payload.PATH, or quote the text to search payloads`,
    }
  const example = EXAMPLES[key] ?? ''
  if (key === 'payload' && path === '') return { says: 'has no path', fix: `Use ${example}` }
  if (value === '' && !(isQuoted && key === 'payload'))
    return { says: 'has no value', fix: `Use ${example}, without a space` }
  if (isSingle(key)) {
    if (seen.has(key)) return { says: 'is duplicated', fix: `Use ${key} once` }
    seen.add(key)
  }
  return applyPart(key, path, value, filter)
}

const isSingle = (key: string): boolean => key !== 'tag' && key !== 'payload'

function applyPart(key: string, path: string, value: string, filter: Filter): Changed {
  if (isTimeKey(key)) {
    const when = readWhen(value)
    return when === null ? { says: 'is not a time', fix: WHEN_FIX } : { [key]: when }
  }
  switch (key) {
    case 'state': {
      const state = value.toLowerCase()
      if (isState(state)) return { state }
      return { says: 'is not a state', fix: `Use ${LISTED_STATES.join(', ')}` }
    }
    case 'tag': {
      const tags = [...new Set([...filter.tags, value])]
      return tags.length > MOST_TAGS
        ? { says: 'exceeds the maximum number of tags', fix: `Use at most ${MOST_TAGS} tags` }
        : { tags }
    }
    case 'payload': {
      const payload = [...filter.payload.filter((one) => one.path !== path), { path, value }]
      return payload.length > MOST_PAYLOAD
        ? { says: 'exceeds the maximum number of paths', fix: `Use at most ${MOST_PAYLOAD} paths` }
        : { payload }
    }
    default:
      return { [key]: value }
  }
}

export const isState = (text: string): text is ListedState => LISTED_STATES.includes(text as ListedState)
