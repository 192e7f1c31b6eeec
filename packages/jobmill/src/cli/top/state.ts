/** The navigation state of `top`, and how keys change it. Nothing here has side effects. */
import type { Key } from './keys.ts'

/** The selection is stored by name, so that it survives changes of the list. */
export type Place =
  | { readonly kind: 'queues'; readonly chosen: string | null }
  | { readonly kind: 'queue'; readonly queue: string; readonly chosen: string | null }
  | { readonly kind: 'job'; readonly id: string; readonly scrolled: number }

export interface TopState {
  /** The screens from the first to the current one. */
  readonly path: readonly [Place, ...Place[]]
  readonly isHelp: boolean
}

export const START: TopState = { path: [{ kind: 'queues', chosen: null }], isHelp: false }

export interface Pressed {
  readonly state: TopState
  /** A side effect to run: leave, or pause or resume the selected queue. */
  readonly act: 'leave' | 'toggle' | null
}

export function placeOf({ path }: TopState): Place {
  return path.at(-1) ?? path[0]
}

/** The index of the selected item, or 0 when it is not in the list. */
export function chosenOf(chosen: string | null, items: readonly string[]): number {
  return Math.max(0, chosen === null ? 0 : items.indexOf(chosen))
}

/** `items` are the selectable items of the current screen, or the lines of a job. `page` is how many fit. */
export function pressKey(state: TopState, key: Key, items: readonly string[], page: number): Pressed {
  const place = placeOf(state)
  if (key === 'quit') return { state, act: 'leave' }
  if (key === 'help' || state.isHelp) return { state: { ...state, isHelp: !state.isHelp }, act: null }
  if (key === 'pause') return { state, act: place.kind === 'queues' && items.length > 0 ? 'toggle' : null }
  if (key === 'back') return { state: { ...state, path: shorter(state.path) }, act: null }
  if (key === 'enter') return { state: { ...state, path: longer(state.path, place, items) }, act: null }
  return { state: { ...state, path: replaceLast(state.path, move(place, key, items, page)) }, act: null }
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
  // Stores the selection, so that going back restores it.
  return [...replaceLast(path, { ...place, chosen: item }), next]
}

function replaceLast([first, ...rest]: Path, place: Place): Path {
  return rest.length === 0 ? [place] : [first, ...rest.slice(0, -1), place]
}

function move(place: Place, key: Key, items: readonly string[], page: number): Place {
  const step = STEPS[key]
  if (step === undefined) return place
  const at = place.kind === 'job' ? place.scrolled : chosenOf(place.chosen, items)
  // Text scrolls until its last line is visible.
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
