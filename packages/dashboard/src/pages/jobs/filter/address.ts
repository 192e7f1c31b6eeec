/** Converts a filter to and from the URL of the Jobs page, with the parameter names of the API. */
import { LISTED_STATES } from '../../../api/states.ts'
import type { Query } from '../../../api/client.ts'
import type { FilterBody } from '../../../api/types.ts'
import {
  type Filter,
  MOST_PAYLOAD,
  MOST_TAGS,
  NO_FILTER,
  type PayloadValue,
  recordOf,
  TEXT_KEYS,
  TEXTS,
  TIME_KEYS,
  TIMES,
  type Wrong,
} from './filter.ts'
import { isState, type Parsed } from './parse.ts'
import { splitPath } from './parts.ts'
import { instantOf, LAST_AT, readWhen, type When, WHEN_FIX } from './when.ts'

export function toSearch(filter: Filter): URLSearchParams {
  const search = new URLSearchParams()
  const { queue, kind, state, tags, payload, readsAll, text, ...rest } = filter
  const put = (name: string, value: string | null): void => {
    if (value !== null) search.append(name, value)
  }
  put('queue', queue)
  put('kind', kind)
  put('state', state)
  for (const tag of tags) put('tag', tag)
  for (const key of TIME_KEYS) put(TIMES[key].parameter, whenText(rest[key]))
  put('version', rest.version)
  put('orderKey', rest.order)
  put('group', rest.group)
  put('dedupeKey', rest.dedupe)
  put('errorText', rest.error)
  for (const { path, value } of payload) put('payloadAt', `${path}:${value}`)
  if (payload.length > 0 && readsAll) put('search', 'all')
  put('payloadText', text)
  return search
}

/** The jobs of a group. Each queue has its own groups. */
export const groupAddress = (queue: string, group: string): string =>
  `/jobs?${toSearch({ ...NO_FILTER, queue, group })}`

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
    ...recordOf(TEXT_KEYS, (key) => filled(search, TEXTS[key].parameter)),
    ...recordOf(TIME_KEYS, (key) => when(TIMES[key].parameter)),
    state: state !== null && isState(state) ? state : null,
    tags: [...new Set(search.getAll('tag').filter((tag) => tag !== ''))].slice(0, MOST_TAGS),
    payload: [...payload].map(([path, value]) => ({ path, value })),
    readsAll: payload.size > 0 && search.get('search') === 'all',
    text: filled(search, 'payloadText'),
  }
  return { filter, wrong }
}

/** The same filter for other people and later: with the times that its relative ones mean at `now`. */
export function withInstants(filter: Filter, now: number): Filter {
  return {
    ...filter,
    ...recordOf(TIME_KEYS, (key) => {
      const when = filter[key]
      return when === null ? null : { at: instantOf(when, now) }
    }),
  }
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
  const { tags, payloadAt, indexedPayload, ...rest } = toBody(filter, now)
  return { ...rest, tag: tags, payloadAt, indexedPayload }
}

/** Returns the filter as a request body, for bulk actions. */
export function toBody(filter: Filter, now: number): FilterBody {
  const { state, tags, payload, text } = filter
  const given: [string, unknown][] = [
    ...TEXT_KEYS.map((key): [string, unknown] => [TEXTS[key].parameter, filter[key]]),
    ...TIME_KEYS.map((key): [string, unknown] => {
      const when = filter[key]
      return [TIMES[key].parameter, when === null ? null : instantOf(when, now)]
    }),
  ]
  const valuesIn = (parameter: string, isMeant: (one: PayloadValue) => boolean): object => {
    const values = payload.filter(isMeant).map(({ path, value }) => `${path}:${value}`)
    return values.length === 0 ? {} : { [parameter]: values }
  }
  return {
    ...Object.fromEntries(given.filter(([, value]) => value !== null)),
    ...(state !== null && { state }),
    ...(tags.length > 0 && { tags }),
    ...valuesIn('payloadAt', (one) => one.isIndexed !== true),
    ...valuesIn('indexedPayload', (one) => one.isIndexed === true),
    ...(text !== null && { payloadText: text }),
  }
}
