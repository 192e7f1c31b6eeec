/** Converts a filter to and from the URL of the Jobs page, with the parameter names of the API. */
import { LISTED_STATES } from '../../../api/states.ts'
import type { Query } from '../../../api/client.ts'
import type { FilterBody } from '../../../api/types.ts'
import { type Filter, MOST_PAYLOAD, MOST_TAGS, type Wrong } from './filter.ts'
import { isState, type Parsed } from './parse.ts'
import { splitPath } from './parts.ts'
import { instantOf, LAST_AT, readWhen, type When, WHEN_FIX } from './when.ts'

export function toSearch(filter: Filter): URLSearchParams {
  const search = new URLSearchParams()
  const { queue, kind, state, tags, after, before, error, payload, text } = filter
  const put = (name: string, value: string | null): void => {
    if (value !== null) search.append(name, value)
  }
  put('queue', queue)
  put('kind', kind)
  put('state', state)
  for (const tag of tags) put('tag', tag)
  put('enqueuedFrom', whenText(after))
  put('enqueuedBefore', whenText(before))
  put('errorText', error)
  for (const { path, value } of payload) put('payloadAt', `${path}:${value}`)
  put('payloadText', text)
  return search
}

const whenText = (when: When | null): string | null =>
  when === null ? null : 'at' in when ? String(when.at) : when.ago

/** Invalid parameters are reported and ignored. */
export function fromSearch(search: URLSearchParams): Parsed {
  const wrong: Wrong[] = []
  const state = filled(search, 'state')
  if (state !== null && !isState(state))
    wrong.push({ part: `state=${state}`, says: 'is not a state', fix: `Use ${LISTED_STATES.join(', ')}` })
  const when = (name: string): When | null => {
    const text = filled(search, name)
    const read = text === null ? null : readAddressed(text)
    if (text !== null && read === null)
      wrong.push({ part: `${name}=${text}`, says: 'is not a time', fix: WHEN_FIX })
    return read
  }
  const payload = new Map<string, string>()
  for (const at of search.getAll('payloadAt')) {
    const split = splitPath(at)
    if (split !== null && (payload.size < MOST_PAYLOAD || payload.has(split.path)))
      payload.set(split.path, split.value)
    else
      wrong.push({
        part: `payloadAt=${at}`,
        says: split === null ? 'is not a path and a value' : 'exceeds the maximum number of paths',
        fix: `Use a path and a value, such as user.id:42, and at most ${MOST_PAYLOAD} paths`,
      })
  }
  const filter: Filter = {
    queue: filled(search, 'queue'),
    kind: filled(search, 'kind'),
    state: state !== null && isState(state) ? state : null,
    tags: [...new Set(search.getAll('tag').filter((tag) => tag !== ''))].slice(0, MOST_TAGS),
    after: when('enqueuedFrom'),
    before: when('enqueuedBefore'),
    error: filled(search, 'errorText'),
    payload: [...payload].map(([path, value]) => ({ path, value })),
    text: filled(search, 'payloadText'),
  }
  return { filter, wrong }
}

const filled = (search: URLSearchParams, name: string): string | null => {
  const value = search.get(name)
  return value === '' ? null : value
}

function readAddressed(text: string): When | null {
  if (/^\d{1,15}$/.test(text)) return Number(text) <= LAST_AT ? { at: Number(text) } : null
  return readWhen(text)
}

/** Returns the filter as query parameters, for lists and previews. */
export function toQuery(filter: Filter, now: number): Query {
  const { tags, payloadAt, ...rest } = toBody(filter, now)
  return { ...rest, tag: tags, payloadAt }
}

/** Returns the filter as a request body, for bulk actions. */
export function toBody(filter: Filter, now: number): FilterBody {
  const { queue, kind, state, tags, after, before, error, payload, text } = filter
  return {
    ...(queue !== null && { queue }),
    ...(kind !== null && { kind }),
    ...(state !== null && { state }),
    ...(tags.length > 0 && { tags }),
    ...(after !== null && { enqueuedFrom: instantOf(after, now) }),
    ...(before !== null && { enqueuedBefore: instantOf(before, now) }),
    ...(error !== null && { errorText: error }),
    ...(payload.length > 0 && { payloadAt: payload.map(({ path, value }) => `${path}:${value}`) }),
    ...(text !== null && { payloadText: text }),
  }
}
