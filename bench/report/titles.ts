// What each case is, in words, for the headings of the tables; and which figures stand beside which.

const TITLES: Readonly<Record<string, string>> = {
  a: 'enqueue, one call after the other',
  b: 'enqueue, 64 single calls in flight',
  c: 'enqueue by thousands, two calls in flight',
  d: 'drain a full queue with one process, everything kept that the system keeps',
  'd-nothing-kept': 'drain a full queue with one process, nothing kept of what succeeded',
  e: 'enqueue and process together, 64 calls in flight',
  'e-1000': 'enqueue and process together, 1,000 calls in flight',
  'f-same': 'pickup when idle, in the same process, p50 (bare: one INSERT until its answer)',
  'f-other': 'pickup when idle, in another process, p50',
  g: 'drain out of a long backlog',
  h: 'an empty claim behind many deferred jobs',
  'h-stage': 'a look for due jobs behind many deferred ones',
  'h-foreign': 'an empty claim behind many jobs of a foreign kind',
  'h-paused': 'an empty claim behind a paused queue',
  i: 'drain while a transaction elsewhere keeps an old view (PostgreSQL: the last 20,000 jobs)',
  'i-unpinned': 'the same as i without that transaction',
  'j-2': 'drain by two processes',
  'j-4': 'drain by four processes',
  k: 'enqueue and process for long, nothing kept: the rate of the last tenth',
  'k-kept': 'enqueue and process 2,000 a second for long, everything kept: the rate of the last tenth',
  l: 'statements with nothing to do',
  memory: 'the most that a process occupies which drains a full queue',
}

export interface Placed {
  /** The case under whose heading a figure stands. */
  readonly family: string
  /** What it is there: `cpu`, `p95`; empty for the figure of the case itself. */
  readonly part: string
}

/** `d-nothing-kept-cpu` is the `cpu` of `d-nothing-kept`, and `d-cpu` that of `d`. */
export function placeOf(name: string): Placed {
  for (let end = name.length; end > 0; end = name.lastIndexOf('-', end - 1)) {
    const family = name.slice(0, end)
    if (family in TITLES) return { family, part: name.slice(end + 1) }
  }
  return { family: name, part: '' }
}

export const titleOf = (family: string): string => TITLES[family] ?? family
