// Checks for leaks between a start and an end: what was created in between and still exists.
import { recount, moreThan } from './counted.ts'
import { endSince, type Kind, kindsUntil, leftSince, mark } from './things.ts'
import { untilGone } from './until-gone.ts'
import { closeIdleConnections, takeWarnings } from './watch-node.ts'

/**
 * How long to wait for resources that are closing. Generous for busy machines: only a leak takes that long.
 */
export const patience = { ms: 10_000 }

export interface Check {
  /** Descriptions of the leaks, once all is gone or the time is up. */
  readonly left: () => Promise<string[]>
  /**
   * For a failed test: kills its processes now. A stopped process would wait without end, and so would every
   * reader of its output.
   */
  readonly breakOff: () => void
}

export function begin(): Check {
  const since = mark()
  const before = recount()
  const leaveOut = sharedUntil(since)
  const now = (): string[] => [
    ...leftSince(since, leaveOut),
    ...moreThan(before, { sockets: !leaveOut.has('socket'), files: !leaveOut.has('SQLite handle') }),
  ]
  return {
    left: async () => {
      if (now().length > 0) closeIdleConnections()
      return [...(await untilGone(now, patience.ms)), ...takeWarnings()]
    },
    breakOff: () => endSince(since),
  }
}

/**
 * Kinds that may create more of themselves, and timers, during a test: a pool connects, a server restarts.
 */
const LIVELY: readonly Kind[] = ['socket', 'server', 'child', 'thread', 'SQLite handle', 'mill']

/**
 * Kinds that a file shares among its tests, so that no single test is responsible. They are checked at the
 * end of the file.
 */
function sharedUntil(since: number): ReadonlySet<Kind> {
  const there = kindsUntil(since)
  const shared = LIVELY.filter((kind) => there.has(kind))
  return new Set(shared.length === 0 ? [] : [...shared, 'timer', 'abort listener', 'test clock'])
}
