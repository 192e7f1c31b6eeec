// The check itself: from a beginning to an end, what is left in between.
import { countAnew, moreThan } from './counted.ts'
import { endSince, type Kind, kindsUntil, leftSince, mark } from './things.ts'
import { untilGone } from './until-gone.ts'
import { closeIdleConnections, takeWarnings } from './watch-node.ts'

/** How long what is being closed is waited for. Generous, for busy machines: only a leak takes that long. */
export const patience = { ms: 10_000 }

export interface Check {
  /** In words, once all is gone or patience is over. */
  readonly left: () => Promise<string[]>
  /** Of a test that broke off: its processes end now. One that stands still would wait for ever, and so would whoever reads what it says. */
  readonly breakOff: () => void
}

export function begin(): Check {
  const since = mark()
  const before = countAnew()
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

/** What may make more of its kind, and timers, while a test runs: a pool connects, a server is started again. */
const LIVELY: readonly Kind[] = ['socket', 'server', 'child', 'thread', 'SQLite handle', 'mill']

/** The kinds that a test cannot answer for, because its file has something for all its tests. They are looked at when the file ends. */
function sharedUntil(since: number): ReadonlySet<Kind> {
  const there = kindsUntil(since)
  const shared = LIVELY.filter((kind) => there.has(kind))
  return new Set(shared.length === 0 ? [] : [...shared, 'timer', 'abort listener', 'test clock'])
}
