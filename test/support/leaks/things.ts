// Records every watched resource with the place that created it, and reports those that still exist at the
// end.
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
  /** In creation order: a test is not responsible for what existed before it. */
  readonly n: number
  readonly isThere: () => boolean
  readonly tell: () => string
  /** Ends the resource by force when it would outlive this process. */
  readonly end: () => void
  readonly made: { readonly stack?: string }
}

/** Deep enough to leave the driver or Node, and cheap enough for every timer. */
const FRAMES = 12

/** An abort listener is added by the code that is responsible for it, and tests add thousands. */
const LISTENER_FRAMES = 5

/** How many timers of one test get a stack trace. A test with more would spend its time on traces. */
const TRACED_TIMERS = 50

/** From this number on, ended resources are forgotten: a test may set a million timers. */
const MANY = 5_000

let things: Thing[] = []
let last = 0
let many = MANY
let traced = 0

const excused = new Set<Kind>()

/**
 * Excuses kinds that a file leaves on purpose from now on: a process that crashes in a simulation ends
 * nothing.
 */
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
  const made: { stack?: string } = {}
  if (kind === 'timer') traced += 1
  if (kind !== 'timer' || traced <= TRACED_TIMERS)
    trace(made, kind === 'abort listener' ? LISTENER_FRAMES : FRAMES)
  last += 1
  things.push({ kind, n: last, isThere, tell, end, made })
  // A clock counts only once its mills have stopped.
  if (things.length > many) forget(({ kind, isThere }) => kind !== 'test clock' && !isThere())
}

function trace(made: object, frames: number): void {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = frames
  // The stack trace is formatted only when it is read.
  Error.captureStackTrace(made, watch)
  Error.stackTraceLimit = limit
}

function forget(isOver: (thing: Thing) => boolean): void {
  things = things.filter((thing) => !isOver(thing))
  many = Math.max(MANY, 2 * things.length)
}

/** Resources created from now on have a higher number. */
export function mark(): number {
  traced = 0
  return last
}

/** The kinds with existing resources that were created up to that number. */
export function kindsUntil(n: number): ReadonlySet<Kind> {
  return new Set(things.flatMap((one) => (one.n <= n && one.isThere() ? [one.kind] : [])))
}

/** Descriptions of the leaks, without the kinds to omit. */
export function leftSince(n: number, leaveOut: ReadonlySet<Kind>): string[] {
  forget(({ isThere }) => !isThere())
  return things.flatMap((one) => {
    if (one.n <= n || leaveOut.has(one.kind)) return []
    const at = placeOf(one)
    return at === null ? [] : [`${one.kind}: ${one.tell()}, made ${at}`]
  })
}

/** Forcibly ends every resource that can be ended. */
export function endSince(n: number): void {
  for (const one of things) if (one.n > n && one.isThere()) one.end()
}

const OWN = /\/packages\/jobmill\/src\/(?!testing\/)/

/**
 * The first stack frames outside of Node, drivers and this check. Null for an abort listener that does not
 * belong to Jobmill: those of tests and handlers end with their signal.
 */
function placeOf({ kind, made }: Thing): string | null {
  if (made.stack === undefined) return `after ${TRACED_TIMERS} other timers`
  const frames = made.stack.split('\n').slice(1)
  if (kind === 'abort listener' && !OWN.test(frames.find((frame) => !frame.includes('/leaks/')) ?? ''))
    return null
  const known = frames.filter((frame) => !/node:|\/node_modules\/|\/support\/leaks\//.test(frame))
  const places = known.flatMap((frame) => /(?:file:\/\/)?(\/[^\s()]+:\d+):\d+/.exec(frame)?.[1] ?? [])
  return places.length === 0 ? 'by no code of ours' : `at ${places.slice(0, 4).join(' < ')}`
}

export function hasListener(target: AbortSignal, listener: unknown): boolean {
  return (getEventListeners(target, 'abort') as unknown[]).includes(listener)
}
