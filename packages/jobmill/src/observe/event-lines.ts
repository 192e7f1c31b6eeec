/** A sentence for each event, for log lines. The table has every type, so that none is told by its name alone. */
import { counted } from '../job/count-text.ts'
import { errorText } from '../job/error-text.ts'
import type { AttemptRef, EventTable, EventType, JobRef, MillEvent } from '../job/events.ts'

type Lines = { readonly [Type in EventType]: (event: MillEvent<Type>) => string }

export function lineFor<Type extends EventType>(event: MillEvent<Type>): string {
  const line = LINES[event.type] as (event: MillEvent<Type>) => string
  return line(event)
}

/** What is done once, at a stop, and not again. */
const LAST_PARTS: ReadonlySet<string> = new Set(['stop', 'flush', 'close'])

/** Of a longer list only so many are named. */
const MOST_NAMED = 20

const LINES: Lines = {
  enqueued: (event) =>
    `${jobOf(event)} was ${event.outcome === 'replaced' ? 'given another payload' : 'enqueued'}`,
  'kind-unknown': ({ kind, near }) =>
    `a job of the kind ${kind} was enqueued, which nobody here runs. Did you mean ${near}?`,
  duplicate: (event) => `${jobOf(event)} holds the dedupe key, so nothing was enqueued`,
  started: (event) => `${attemptOf(event)} began after waiting for ${ms(event.waitedMs)}`,
  progress: (event) => `${attemptOf(event)} made progress: ${JSON.stringify(event.value)}`,
  finished: (event) => `${attemptOf(event)} is done, in ${ms(event.ranMs)}${lost(event.notKept)}`,
  retried: (event) => `${attemptOf(event)} failed and is due again in ${ms(event.delayMs)}: ${event.error}`,
  snoozed: (event) => `${attemptOf(event)} asked to come back in ${ms(event.delayMs)}`,
  throttled: (event) => `${attemptOf(event)} was throttled`,
  'timed-out': (event) => `${attemptOf(event)} timed out after ${ms(event.ranMs)}`,
  cancelled: (event) => `${attemptOf(event)} was cancelled: ${event.reason}`,
  dead: (event) =>
    // Whoever takes it back from a process that is gone knows of no attempt.
    `${event.maxAttempts === 0 ? jobOf(event) : attemptOf(event)} is dead: ${event.error}`,
  interrupted: (event) => `${attemptOf(event)} was interrupted (${event.why}) and handed back`,
  released: (event) => `${attemptOf(event)} was handed back before it began`,
  'lease-lost': (event) => `${attemptOf(event)} had lost its lease, so its outcome was not written`,
  stuck: (event) =>
    `${attemptOf(event)} was asked to stop (${event.why}) ${ms(event.sinceMs)} ago and still runs`,
  'queue-cooling': ({ queue, forMs }) => `queue ${queue} cools down for ${ms(forMs)}`,
  'queue-resumed': ({ queue }) => `queue ${queue} has cooled down: its jobs are claimed again`,
  'queue-changed': ({ queue }) => `the settings of queue ${queue} were changed`,
  'settings-differ': differs,
  'limit-drained': ({ limit, key, forMs }) => {
    const whose = key === null ? `limit ${limit}` : `limit ${limit} for ${key}`
    return forMs === 0 ? `${whose} was emptied` : `${whose} grants nothing for ${ms(forMs)}`
  },
  'schedule-fired': ({ schedule, outcome, id }) =>
    outcome === 'enqueued'
      ? `schedule ${schedule} enqueued ${id}`
      : `schedule ${schedule} skipped: ${id} has not ended`,
  'schedule-missed': ({ schedule, missed }) => `schedule ${schedule} missed ${counted(missed, 'instant')}`,
  'schedule-failing': ({ schedule, error }) => `schedule ${schedule} cannot be served: ${errorText(error)}`,
  reaped: ({ jobs, instances }) =>
    `took back ${counted(jobs.length, 'job')} of ${counted(instances.length, 'instance')} that fell silent`,
  'leases-found': ({ jobs }) =>
    `handed back ${counted(jobs, 'job')} whose claim was never answered, so that nobody ran ${itOrThem(jobs)}`,
  'instance-lost': ({ blocked, jobs }) =>
    blocked
      ? `this process stood still for longer than its lease, because a handler blocked the event loop or the machine slept; ${counted(jobs, 'running job')} ${wasOrWere(jobs)} told to stop, and others run ${itOrThem(jobs)} again`
      : `this instance was not renewed in time; ${counted(jobs, 'running job')} ${wasOrWere(jobs)} told to stop`,
  'instance-back': () => 'this instance is known again and goes on',
  'store-failing': ({ part, error }) =>
    LAST_PARTS.has(part)
      ? `at the stop, ${part} failed: ${errorText(error)}`
      : `${part} cannot reach the database and keeps trying: ${errorText(error)}`,
  'store-back': ({ part }) => `${part} reaches the database again`,
  'duty-started': ({ duty, everyMs }) =>
    `${duty} begins, ${everyMs === null ? 'when asked for' : `every ${everyMs} ms`}`,
  'duty-stopped': ({ duty, passes }) => `${duty} ended after ${counted(passes, 'pass', 'passes')}`,
  'duty-done': ({ duty, counts, tookMs }) => `${duty}: ${countsIn(counts)}, in ${ms(tookMs)}`,
  'duty-failing': ({ duty, error }) => `${duty} fails and is tried again: ${errorText(error)}`,
  'duty-back': ({ duty, failures }) => `${duty} works again, after ${counted(failures, 'failure')}`,
  leading: ({ duty }) => `this instance leads ${duty}`,
  led: ({ duty }) => `this instance no longer leads ${duty}`,
  rebalanced: ({ changed }) => `split the workers anew: ${counted(changed, 'assignment')} changed`,
  'mill-started': ({ queues, kinds }) =>
    `started on ${queues.join(', ')} with ${counted(kinds.length, 'kind')}`,
  'mill-stopping': ({ running, graceMs }) =>
    `stopping: ${counted(running, 'job')} ${running === 1 ? 'runs and gets' : 'run and get'} up to ${graceMs} ms; a second signal ends that at once`,
  'grace-expired': ({ jobs }) => {
    const named = jobs
      .slice(0, MOST_NAMED)
      .map((job) => `${jobOf(job)}${job.isAbandoned ? ' (still running)' : ''}`)
    const more = jobs.length > MOST_NAMED ? `, and ${jobs.length - MOST_NAMED} more` : ''
    return `grace period over: interrupted ${counted(jobs.length, 'running job')}, which ${jobs.length === 1 ? 'is' : 'are'} returned to the queue: ${named.join(', ')}${more}`
  },
  'mill-stopped': ({ finished, handedBack, interrupted, tookMs }) =>
    `stopped: ${finished} finished, ${handedBack} handed back, ${interrupted} interrupted, in ${ms(tookMs)}`,
}

function ms(n: number): string {
  return `${Math.round(n)} ms`
}

function lost(notKept: string | null): string {
  return notKept === null ? '' : `; its result was not kept: ${notKept}`
}

function wasOrWere(n: number): string {
  return n === 1 ? 'was' : 'were'
}

function itOrThem(n: number): string {
  return n === 1 ? 'it' : 'them'
}

/** `3 jobs, 1 key`: they are named in the plural. Of retention the states of the jobs, and not also how many these are. */
function countsIn(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([what, n]) => n > 0 && !(what === 'jobs' && 'done' in counts))
  return some.map(([what, n]) => counted(n, what.replace(/s$/, ''), what)).join(', ')
}

/** `email.send 0190… in default` */
function jobOf({ kind, id, queue }: JobRef): string {
  return `${kind} ${id} in ${queue}`
}

/** `email.send 0190… in default, attempt 2 of 5,` */
function attemptOf(event: AttemptRef): string {
  return `${jobOf(event)}, attempt ${event.attempt} of ${event.maxAttempts},`
}

function differs({
  what,
  name,
  field,
  code,
  stored,
  isInCode,
  override,
}: EventTable['settings-differ']): string {
  const is = `${what} ${name}: ${field} is ${written(stored)}`
  if (override === null)
    return `${is} (declared by a process that started later), code here says ${written(code)}. Restart this process to use its value`
  const at = override.at === null ? '' : `, ${new Date(override.at).toISOString()}`
  const says = isInCode ? `code says ${written(code)}` : `the default is ${written(code)}`
  const use = isInCode ? 'the value in code' : 'the default'
  return `${is} (override by ${override.by ?? 'an operator'}${at}), ${says}. Run "jobmill overrides reset ${what} ${name} ${field}" to use ${use}.`
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
