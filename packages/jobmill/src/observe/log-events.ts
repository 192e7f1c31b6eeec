/** Turns events into log lines: a retry is a warning, a death an error, the rest is for who asks. */
import type { LogLevel } from '../job/context.ts'
import { errorText } from '../job/error-text.ts'
import type { AttemptRef, EventType, MillEvent } from '../job/events.ts'
import type { EventHub } from './event-hub.ts'

export interface Logger {
  /** What it writes at least. Left out, it is told everything, also what every job tells. */
  readonly least?: LogLevel
  debug(message: string, fields: object): void
  info(message: string, fields: object): void
  warn(message: string, fields: object): void
  error(message: string, fields: object): void
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

const LEVEL_OF: Readonly<Partial<Record<EventType, LogLevel>>> = {
  'kind-unknown': 'warn',
  retried: 'warn',
  'timed-out': 'warn',
  'queue-cooling': 'warn',
  'lease-lost': 'warn',
  stuck: 'warn',
  reaped: 'warn',
  'leases-found': 'warn',
  'settings-differ': 'warn',
  'limit-drained': 'warn',
  'schedule-missed': 'warn',
  dead: 'error',
  'instance-lost': 'error',
  'store-failing': 'error',
  'duty-failing': 'error',
  'schedule-failing': 'error',
  'instance-back': 'info',
  'store-back': 'info',
  'queue-changed': 'info',
  'queue-resumed': 'info',
  'duty-back': 'info',
  leading: 'info',
  led: 'info',
  rebalanced: 'info',
  'mill-started': 'info',
  'mill-stopping': 'info',
  'mill-stopped': 'info',
}

/** Lines on standard error, from this level up. */
export function consoleLogger(least: LogLevel): Logger {
  const write =
    (level: LogLevel) =>
    (message: string): void => {
      if (isAtLeast(level, least)) process.stderr.write(`jobmill ${level.padEnd(5)} ${message}\n`)
    }
  return { least, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

export function logEvents(hub: EventHub, logger: Logger): () => void {
  const tell = (event: MillEvent): void => {
    const { type, at: _at, ...fields } = event
    logger[LEVEL_OF[type] ?? 'debug'](lineFor(event), fields)
  }
  const { least = 'debug' } = logger
  if (least === 'debug') return hub.on('*', tell)
  // Not all of them: what every job tells is for debugging, and costs next to nothing as long as nobody listens.
  const ends = (Object.keys(LEVEL_OF) as EventType[])
    .filter((type) => isAtLeast(LEVEL_OF[type] ?? 'debug', least))
    .map((type) => hub.on(type, tell))
  return () => {
    for (const end of ends) end()
  }
}

function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least)
}

/** What is done once, at a stop, and not again. */
const LAST_PARTS: ReadonlySet<string> = new Set(['stop', 'flush', 'close'])

function lineFor(event: MillEvent): string {
  switch (event.type) {
    case 'kind-unknown':
      return `a job of the kind ${event.kind} was enqueued, which nobody here runs. Did you mean ${event.near}?`
    case 'retried':
      return `${attemptOf(event)} failed and is due again in ${event.delayMs} ms: ${event.error}`
    case 'dead':
      // Whoever takes it back from a process that is gone knows of no attempt.
      return event.maxAttempts === 0
        ? `${event.kind} ${event.id} in ${event.queue} is dead: ${event.error}`
        : `${attemptOf(event)} is dead: ${event.error}`
    case 'timed-out':
      return `${attemptOf(event)} timed out after ${Math.round(event.ranMs)} ms`
    case 'throttled':
      return `${attemptOf(event)} was throttled`
    case 'stuck':
      return `${attemptOf(event)} was asked to stop (${event.why}) ${Math.round(event.sinceMs)} ms ago and still runs`
    case 'lease-lost':
      return `${attemptOf(event)} had lost its lease, so its outcome was not written`
    case 'queue-cooling':
      return `queue ${event.queue} cools down for ${event.forMs} ms`
    case 'reaped':
      return `took back ${event.jobs.length} jobs of ${event.instances.length} instances that fell silent`
    case 'instance-lost':
      return event.blocked
        ? `this process stood still for longer than its lease, because a handler blocked the event loop or the machine slept; ${event.jobs} running jobs were told to stop, and others run them again`
        : `this instance was not renewed in time; ${event.jobs} running jobs were told to stop`
    case 'store-failing':
      if (LAST_PARTS.has(event.part)) return `at the stop, ${event.part} failed: ${errorText(event.error)}`
      return `${event.part} cannot reach the database and keeps trying: ${errorText(event.error)}`
    case 'settings-differ':
      return `${event.what} ${event.name}: code says ${event.field} ${JSON.stringify(event.code)}, and ${JSON.stringify(event.stored)} counts, as it was stored; change it there`
    case 'limit-drained':
      return event.forMs === 0
        ? `limit ${event.limit} was emptied`
        : `limit ${event.limit} grants nothing for ${event.forMs} ms`
    case 'schedule-fired':
      return event.outcome === 'enqueued'
        ? `schedule ${event.schedule} enqueued ${event.id}`
        : `schedule ${event.schedule} skipped: ${event.id} has not ended`
    case 'schedule-missed':
      return `schedule ${event.schedule} missed ${event.missed} instants`
    case 'schedule-failing':
      return `schedule ${event.schedule} cannot be served: ${errorText(event.error)}`
    case 'rebalanced':
      return `split the workers anew: ${event.changed} assignments changed`
    case 'mill-started':
      return `started on ${event.queues.join(', ')} with ${event.kinds.length} kinds`
    case 'mill-stopping':
      return `stopping: ${event.running} jobs run and get up to ${event.graceMs} ms; a second signal ends that at once`
    case 'mill-stopped':
      return `stopped: ${event.finished} finished, ${event.handedBack} handed back, ${event.interrupted} interrupted, in ${Math.round(event.tookMs)} ms`
    default:
      if ('duty' in event) return dutyLine(event)
      return 'kind' in event ? `${event.type} ${event.kind} ${event.id}` : event.type
  }
}

function dutyLine(event: Extract<MillEvent, { readonly duty: string }>): string {
  switch (event.type) {
    case 'duty-started':
      return `${event.duty} begins, ${event.everyMs === null ? 'when asked for' : `every ${event.everyMs} ms`}`
    case 'duty-stopped':
      return `${event.duty} ended after ${event.passes} passes`
    case 'duty-done':
      return `${event.duty}: ${countsIn(event.counts)}, in ${Math.round(event.tookMs)} ms`
    case 'duty-failing':
      return `${event.duty} fails and is tried again: ${errorText(event.error)}`
    case 'duty-back':
      return `${event.duty} works again, after ${event.failures} failures`
    case 'leading':
      return `this instance leads ${event.duty}`
    case 'led':
      return `this instance no longer leads ${event.duty}`
  }
}

/** `3 jobs, 1 keys` */
function countsIn(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, n]) => n > 0)
  return some.map(([what, n]) => `${n} ${what}`).join(', ')
}

/** `email.send 0190… in default, attempt 2 of 5` */
function attemptOf({ kind, id, queue, attempt, maxAttempts }: AttemptRef): string {
  return `${kind} ${id} in ${queue}, attempt ${attempt} of ${maxAttempts},`
}
