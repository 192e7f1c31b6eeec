/** Where somebody is in `top`, and what a key makes of it. Pure. */
import type { Key } from './keys.ts'

/** What is chosen is kept by its name, so that it stays the same when the list changes. */
export type Place =
  | { readonly kind: 'queues'; readonly chosen: string | null }
  | { readonly kind: 'queue'; readonly queue: string; readonly chosen: string | null }
  | { readonly kind: 'job'; readonly id: string; readonly scrolled: number }

export interface TopState {
  /** The way here; the last one is shown. */
  readonly path: readonly [Place, ...Place[]]
  readonly isHelp: boolean
}

export const START: TopState = { path: [{ kind: 'queues', chosen: null }], isHelp: false }

export interface Pressed {
  readonly state: TopState
  /** What is to be done passthrough: leave, or pause or resume the chosen queue. */
  readonly act: 'leave' | 'toggle' | null
}

export function placeOf({ path }: TopState): Place {
  return path.at(-1) ?? path[0]
}

/** The chosen one as it stands in the list: the first when it is not there. */
export function chosenOf(chosen: string | null, items: readonly string[]): number {
  return Math.max(0, chosen === null ? 0 : items.indexOf(chosen))
}

/** `items` can be chosen on the screen that is shown, in their order; of a job they are its lines. `page` is how many fit. */
export function pressed(state: TopState, key: Key, items: readonly string[], page: number): Pressed {
  const place = placeOf(state)
  if (key === 'quit') return { state, act: 'leave' }
  if (key === 'help' || state.isHelp) return { state: { ...state, isHelp: !state.isHelp }, act: null }
  if (key === 'pause') return { state, act: place.kind === 'queues' && items.length > 0 ? 'toggle' : null }
  if (key === 'back') return { state: { ...state, path: shorter(state.path) }, act: null }
  if (key === 'enter') return { state: { ...state, path: longer(state.path, place, items) }, act: null }
  return { state: { ...state, path: replaced(state.path, moved(place, key, items, page)) }, act: null }
}

type Path = TopState['path']

function shorter([first, ...rest]: Path): Path {
  return [first, ...rest.slice(0, -1)]
}

function longer(path: Path, place: Place, items: readonly string[]): Path {
  if (place.kind === 'job') return path
  const item = items[chosenOf(place.chosen, items)]
  if (item === undefined) return path
  const next: Place =
    place.kind === 'queues'
      ? { kind: 'queue', queue: item, chosen: null }
      : { kind: 'job', id: item, scrolled: 0 }
  // With what was chosen, so that the way back leads there.
  return [...replaced(path, { ...place, chosen: item }), next]
}

function replaced([first, ...rest]: Path, place: Place): Path {
  return rest.length === 0 ? [place] : [first, ...rest.slice(0, -1), place]
}

function moved(place: Place, key: Key, items: readonly string[], page: number): Place {
  const step = STEPS[key]
  if (step === undefined) return place
  const at = place.kind === 'job' ? place.scrolled : chosenOf(place.chosen, items)
  // A text is moved as a whole, until its end is seen.
  const last = Math.max(0, place.kind === 'job' ? items.length - page : items.length - 1)
  const to = Math.min(last, Math.max(0, at + step(page)))
  return place.kind === 'job' ? { ...place, scrolled: to } : { ...place, chosen: items[to] ?? null }
}

const STEPS: Readonly<Partial<Record<Key, (page: number) => number>>> = {
  up: () => -1,
  down: () => 1,
  'page-up': (page) => -page,
  'page-down': (page) => page,
  first: () => Number.NEGATIVE_INFINITY,
  last: () => Number.POSITIVE_INFINITY,
}
