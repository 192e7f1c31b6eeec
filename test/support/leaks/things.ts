// What was made and has to be gone at the end: everything that is watched is written down here, with the place that made it.
import { getEventListeners } from 'node:events'

export type Kind =
  | 'timer'
  | 'socket'
  | 'server'
  | 'child'
  | 'thread'
  | 'SQLite handle'
  | 'gauge'
  | 'mill'
  | 'test clock'
  | 'abort listener'

interface Thing {
  readonly kind: Kind
  /** In the order of making: what was made before a test is not that test's. */
  readonly n: number
  readonly isThere: () => boolean
  readonly tell: () => string
  /** Ends it by force, where it would outlive this process. */
  readonly end: () => void
  readonly made: { readonly stack?: string }
}

/** Deep enough to leave the driver or the platform, and cheap enough for every timer. */
const FRAMES = 12

/** Then those that are gone are forgotten: a test may set a million timers. */
const MANY = 5_000

let things: Thing[] = []
let last = 0
let many = MANY

const excused = new Set<Kind>()

/** For a file that leaves these on purpose, from now on: a process that dies in a simulation ends nothing that it began. */
export function excuse(...kinds: readonly Kind[]): void {
  for (const kind of kinds) excused.add(kind)
}

export function watch(
  kind: Kind,
  isThere: () => boolean,
  tell: () => string,
  end: () => void = () => {},
): void {
  if (excused.has(kind)) return
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = FRAMES
  const made: { stack?: string } = {}
  // It is put into words only when somebody reads it.
  Error.captureStackTrace(made, watch)
  Error.stackTraceLimit = limit
  last += 1
  things.push({ kind, n: last, isThere, tell, end, made })
  // A clock counts only once its mills have stopped.
  if (things.length > many) forget(({ kind, isThere }) => kind !== 'test clock' && !isThere())
}

function forget(isOver: (thing: Thing) => boolean): void {
  things = things.filter((thing) => !isOver(thing))
  many = Math.max(MANY, 2 * things.length)
}

/** What is made from now on comes after it. */
export const mark = (): number => last

/** Kinds of which something is there that was made until then. */
export function kindsUntil(n: number): ReadonlySet<Kind> {
  return new Set(things.flatMap((one) => (one.n <= n && one.isThere() ? [one.kind] : [])))
}

/** In words, without the kinds to leave out. */
export function leftSince(n: number, leaveOut: ReadonlySet<Kind>): string[] {
  forget(({ isThere }) => !isThere())
  return things.flatMap((one) => {
    if (one.n <= n || leaveOut.has(one.kind)) return []
    const at = placeOf(one)
    return at === null ? [] : [`${one.kind}: ${one.tell()}, made ${at}`]
  })
}

/** By force, whatever can be. */
export function endSince(n: number): void {
  for (const one of things) if (one.n > n && one.isThere()) one.end()
}

const OWN = /\/packages\/jobmill\/src\/(?!testing\/)/

/**
 * The first places outside of Node, drivers and this check. Null for an abort listener that is not the product's: in tests and handlers those end with their
 * signal.
 */
function placeOf({ kind, made }: Thing): string | null {
  const frames = (made.stack ?? '').split('\n').slice(1)
  if (kind === 'abort listener' && !OWN.test(frames.find((frame) => !frame.includes('/leaks/')) ?? ''))
    return null
  const known = frames.filter((frame) => !/node:|\/node_modules\/|\/support\/leaks\//.test(frame))
  const places = known.flatMap((frame) => /(?:file:\/\/)?(\/[^\s()]+:\d+):\d+/.exec(frame)?.[1] ?? [])
  return places.length === 0 ? 'by no code of ours' : `at ${places.slice(0, 4).join(' < ')}`
}

export function hasListener(target: AbortSignal, listener: unknown): boolean {
  return (getEventListeners(target, 'abort') as unknown[]).includes(listener)
}
