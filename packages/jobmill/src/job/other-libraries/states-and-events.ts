/** Job states and event names of other libraries, mostly BullMQ, and those to use here. */

const READY = 'Use ready'
const RUNNING = 'Use running'

const STATES: Readonly<Record<string, string>> = {
  active: RUNNING,
  completed: 'Use done',
  delayed: 'Use scheduled',
  executing: RUNNING,
  failed: 'Use dead, or retrying for failed jobs that will run again',
  paused: 'Use ready: the jobs of a paused queue stay ready',
  pending: READY,
  prioritized: READY,
  wait: READY,
  waiting: READY,
}

/** The fix for a job state of another library. */
export function stateHint(state: unknown): string | undefined {
  return typeof state === 'string' && Object.hasOwn(STATES, state) ? STATES[state] : undefined
}

const EVENTS: Readonly<Record<string, string>> = {
  active: 'Did you mean "started"?',
  added: 'Did you mean "enqueued"?',
  closed: 'Did you mean "mill-stopped"?',
  closing: 'Did you mean "mill-stopping"?',
  completed: 'Did you mean "finished"?',
  deduplicated: 'Did you mean "duplicate"?',
  done: 'Did you mean "finished"?',
  error: 'Did you mean "store-failing"?',
  failed: 'Did you mean "dead", or "retried" for an attempt that will be retried?',
  ready: 'Did you mean "mill-started"?',
  'retries-exhausted': 'Did you mean "dead"?',
  stalled: 'Did you mean "reaped"?',
  succeeded: 'Did you mean "finished"?',
  success: 'Did you mean "finished"?',
  waiting: 'Did you mean "enqueued"?',
}

/** The fix for an event name of another library. */
export function eventHint(type: string): string | undefined {
  return Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined
}
