// The titles of the cases, for the headings of the tables, and the case to which each figure belongs.

const TITLES: Readonly<Record<string, string>> = {
  a: 'enqueue, one call after the other',
  b: 'enqueue, 64 single calls in flight',
  c: 'enqueue in bulk, 1,000 jobs per call, two calls in flight',
  d: 'drain a full queue with one process, with the retention of the system',
  'd-nothing-kept': 'drain a full queue with one process, finished jobs removed',
  e: 'enqueue and process together, 64 calls in flight',
  'e-1000': 'enqueue and process together, 1,000 calls in flight',
  'e-nothing-kept': 'enqueue and process together, 64 calls in flight, finished jobs removed',
  'f-same': 'pickup when idle, in the same process, p50 (bare: one INSERT until its answer)',
  'f-other': 'pickup when idle, in another process, p50',
  'f-tx': 'the same, of a job that is enqueued in a transaction of the application, p50',
  g: 'drain a long backlog',
  h: 'an empty claim behind many deferred jobs',
  'h-stage': 'a search for due jobs behind many deferred ones',
  'h-foreign': 'an empty claim behind many jobs of a kind without a worker',
  'h-paused': 'an empty claim behind a paused queue',
  i: 'drain while another transaction holds an old snapshot (PostgreSQL: the last 20,000 jobs)',
  'i-unpinned': 'the same as i without that transaction',
  'j-2': 'drain by two processes',
  'j-4': 'drain by four processes',
  'j-cold-2': 'drain by two processes that start into a full queue, without a warm-up',
  'j-cold-4': 'the same by four processes',
  'scale-1': 'drain a queue that stays full, one process, after a warm-up',
  'scale-2': 'drain a queue that stays full, two processes, after a warm-up',
  'scale-4': 'drain a queue that stays full, four processes, after a warm-up',
  'open-1000': 'pickup under a steady load of 1,000 jobs/s, 64 workers, handlers of 5 ms, p50',
  'open-4000': 'pickup under a steady load of 4,000 jobs/s, 64 workers, handlers of 5 ms, p50',
  'slow-commits': 'commits of at least 2 ms, 16 processes with one worker each, handlers of 5 ms',
  k: 'enqueue and process for a long time, nothing kept: the rate of the last tenth',
  'k-kept': 'enqueue and process 2,000 jobs/s for a long time, everything kept: the rate of the last tenth',
  l: 'statements of an idle system',
  steps: '64 jobs in flight with 10 durable steps each',
  'steps-long': 'one job with 1,000 durable steps, one after the other',
  memory: 'peak memory of a process that drains a full queue',
}

export interface Placed {
  /** The case under whose heading the figure appears. */
  readonly family: string
  /** The name of the figure there: `cpu`, `p95`; empty for the main figure of the case. */
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
