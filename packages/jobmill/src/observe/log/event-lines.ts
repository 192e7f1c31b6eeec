/** The log line of each event. The table covers every type, so no event is logged by its name alone. */
import { countText } from '../../job/text/count-text.ts'
import { cut, errorText } from '../../job/text/error-text.ts'
import type { AttemptRef, EventTable, EventType, JobRef, MillEvent } from '../../job/events.ts'

type Lines = { readonly [Type in EventType]: (event: MillEvent<Type>) => string }

export function lineFor<Type extends EventType>(event: MillEvent<Type>): string {
  const line = LINES[event.type] as (event: MillEvent<Type>) => string
  return line(event)
}

/** Parts that run once during shutdown and are not retried. */
const LAST_PARTS: ReadonlySet<string> = new Set(['stop', 'flush', 'close'])

/** The maximum number of jobs named in one line. */
const MOST_NAMED = 20

const LINES: Lines = {
  enqueued: (event) =>
    `${jobOf(event)} ${event.outcome === 'replaced' ? 'got a new payload' : 'was enqueued'}`,
  'kind-unknown': ({ kind, near }) =>
    `job of kind ${kind} was enqueued, but this process has no handler for it. Did you mean ${near}?`,
  'queue-unknown': ({ queue, near }) =>
    `job was enqueued to queue ${queue}, but this process has no such queue. Did you mean ${near}?`,
  duplicate: (event) => `${jobOf(event)} already holds the dedupe key, so nothing was enqueued`,
  started: (event) => `${attemptOf(event)} started after waiting ${ms(event.waitedMs)}`,
  progress: (event) => `${attemptOf(event)} reported progress: ${JSON.stringify(event.value)}`,
  finished: (event) => `${attemptOf(event)} completed in ${ms(event.ranMs)}${resultNote(event.notKept)}`,
  retried: (event) => `${attemptOf(event)} failed, retrying in ${ms(event.delayMs)}: ${event.error}`,
  'step-recorded': (event) => `${attemptOf(event)} recorded step ${JSON.stringify(event.step)}`,
  'step-failed': (event) =>
    `${attemptOf(event)} failed in step ${JSON.stringify(event.step)}: ${event.error}`,
  'steps-unused': ({ id, kind, steps }) =>
    `job ${id} (${kind}) is done, but its last attempt did not call recorded steps: ${steps.map((step) => JSON.stringify(step)).join(', ')}. Check whether a step was renamed`,
  parked: (event) => `${attemptOf(event)} was parked: it waits in a step`,
  snoozed: (event) => `${attemptOf(event)} was snoozed for ${ms(event.delayMs)}`,
  throttled: (event) => `${attemptOf(event)} was throttled`,
  'timed-out': (event) => `${attemptOf(event)} timed out after ${ms(event.ranMs)}`,
  cancelled: (event) => `${attemptOf(event)} was cancelled: ${event.reason}`,
  dead: (event) =>
    // The reaper does not know the attempt of a job it reclaims.
    `${event.maxAttempts === 0 ? jobOf(event) : attemptOf(event)} failed permanently: ${event.error}`,
  interrupted: (event) => `${attemptOf(event)} was interrupted (${event.why}) and returned to the queue`,
  released: (event) => `${attemptOf(event)} was returned to the queue before it started`,
  'lease-lost': (event) => `${attemptOf(event)} lost its lease, so its outcome was not written`,
  stuck: (event) =>
    `${attemptOf(event)} was asked to stop (${event.why}) ${ms(event.sinceMs)} ago and is still running`,
  'queue-cooling': ({ queue, forMs }) => `queue ${queue} is cooling down for ${ms(forMs)}`,
  'queue-resumed': ({ queue }) => `queue ${queue} resumed after cooling down`,
  'queue-changed': ({ queue }) => `queue ${queue} settings changed`,
  'settings-differ': driftLine,
  'limit-drained': ({ limit, key, forMs }) => {
    const whose = key === null ? `limit ${limit}` : `limit ${limit} for key ${key}`
    return forMs === 0 ? `${whose} was drained` : `${whose} grants nothing for ${ms(forMs)}`
  },
  'schedule-fired': ({ schedule, outcome, id }) =>
    outcome === 'enqueued'
      ? `schedule ${schedule} enqueued job ${id}`
      : `schedule ${schedule} skipped a tick: job ${id} has not ended`,
  'schedule-missed': ({ schedule, missed }) => `schedule ${schedule} missed ${countText(missed, 'tick')}`,
  'schedule-failing': ({ schedule, error }) => `schedule ${schedule} failed to enqueue: ${errorText(error)}`,
  reaped: ({ jobs, instances }) =>
    `reclaimed ${countText(jobs.length, 'job')} from ${countText(instances.length, 'expired instance')}`,
  'leases-found': ({ jobs }) =>
    `returned ${countText(jobs, 'job')} to the queue, because the reply to the claim was lost`,
  'instance-lost': ({ blocked, jobs }) =>
    blocked
      ? `process stalled for longer than its lease, because a handler blocked the event loop or the process was suspended; asked ${countText(jobs, 'running job')} to stop, and other processes will run ${jobs === 1 ? 'it' : 'them'} again`
      : `instance did not renew its lease in time; asked ${countText(jobs, 'running job')} to stop`,
  'instance-back': () => 'instance is registered again',
  'store-failing': ({ part, error }) => {
    if (LAST_PARTS.has(part)) return `${part} failed during shutdown: ${errorText(error)}`
    // Not a database call: the code around handlers failed.
    if (part === 'run') return `running a job failed with an internal error: ${errorText(error)}`
    return `database calls of ${part} are failing, retrying: ${errorText(error)}`
  },
  'store-back': ({ part }) => `database calls of ${part} succeed again`,
  'duty-started': ({ duty, everyMs }) =>
    `duty ${duty} started, ${everyMs === null ? 'on demand' : `every ${everyMs} ms`}`,
  'duty-stopped': ({ duty, passes }) => `duty ${duty} stopped after ${countText(passes, 'pass', 'passes')}`,
  'duty-done': ({ duty, counts, tookMs }) => `duty ${duty} processed ${countsIn(counts)} in ${ms(tookMs)}`,
  'duty-failing': ({ duty, error }) => `duty ${duty} failed, retrying: ${errorText(error)}`,
  'duty-back': ({ duty, failures }) => `duty ${duty} recovered after ${countText(failures, 'failure')}`,
  leading: ({ duty }) => `instance became leader of ${duty}`,
  led: ({ duty }) => `instance is no longer leader of ${duty}`,
  rebalanced: ({ changed }) => `workers were rebalanced: ${countText(changed, 'assignment')} changed`,
  'mill-started': ({ version, queues, kinds }) =>
    `mill started${version === null ? '' : ` with version ${version}`} on ${queues.join(', ')} with ${countText(kinds.length, 'kind')}`,
  'mill-quiet': ({ by, running }) =>
    `mill is quiet, requested by ${by}: it claims no more jobs, with ${countText(running, 'running job')}`,
  'mill-resumed': ({ running }) =>
    `mill resumed: it claims jobs again, with ${countText(running, 'running job')}`,
  'stop-requested': ({ by, endsProcess }) =>
    endsProcess
      ? `stop requested by ${by}`
      : `stop requested by ${by}: the mill stops, but the process keeps running, because it does not call stopOnSignals`,
  'mill-stopping': ({ running, graceMs }) =>
    `mill is stopping: ${countText(running, 'running job')} ${running === 1 ? 'has' : 'have'} up to ${graceMs} ms to finish`,
  'grace-expired': ({ jobs }) => {
    const named = jobs
      .slice(0, MOST_NAMED)
      .map((job) => `${jobOf(job)}${job.isAbandoned ? ' (still running)' : ''}`)
    const more = jobs.length > MOST_NAMED ? `, and ${jobs.length - MOST_NAMED} more` : ''
    return `grace period over: asked ${countText(jobs.length, 'running job')} to stop: ${named.join(', ')}${more}`
  },
  'mill-stopped': ({ finished, returned, interrupted, tookMs }) =>
    `mill stopped in ${ms(tookMs)}: ${finished} finished, ${returned} returned to the queue, ${interrupted} interrupted`,
}

function ms(n: number): string {
  return `${Math.round(n)} ms`
}

function resultNote(notKept: string | null): string {
  return notKept === null ? '' : `; the result was not stored: ${notKept}`
}

/**
 * `3 jobs, 1 key`. Keys are plural nouns. For retention, lists the states of the jobs and leaves out their
 * sum.
 */
function countsIn(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([what, n]) => n > 0 && !(what === 'jobs' && 'done' in counts))
  return some.map(([what, n]) => countText(n, what.replace(/s$/, ''), what)).join(', ')
}

/** `job email.send 0190… in default` */
function jobOf({ kind, id, queue }: JobRef): string {
  return `job ${kind} ${id} in ${queue}`
}

/** `job email.send 0190… in default (attempt 2 of 5)` */
function attemptOf(event: AttemptRef): string {
  return `${jobOf(event)} (attempt ${event.attempt} of ${event.maxAttempts})`
}

function driftLine(event: EventTable['settings-differ']): string {
  const { what, name, field, code, stored, isInCode, override, higherVersion } = event
  const line = (why: string, says: string): string =>
    field === 'payload'
      ? `${what} ${name}: payload differs from code (${why})`
      : `${what} ${name}: ${field} is ${valueText(stored)} (${why}), ${says} ${valueText(code)}`
  const raise = `Set version: ${(higherVersion ?? 0) + 1} in code to use its value, or deploy the release with version ${higherVersion}.`
  if (override === null && higherVersion !== null)
    return `${line(`a higher version (${higherVersion}) is stored`, 'code here says')}. ${raise}`
  if (override === null)
    return `${line('declared by a process that started later', 'code here says')}. Restart this process to use its value`
  const by = `override by ${override.by ?? 'an operator'}, ${new Date(override.at).toISOString()}`
  const use = isInCode ? 'the value in code' : 'the default'
  const reset = `Run "jobmill overrides reset ${what} ${name} ${field}" to use ${use}.`
  const also = higherVersion === null ? '' : ` A higher version (${higherVersion}) is stored too. ${raise}`
  return `${line(by, isInCode ? 'code says' : 'the default is')}. ${reset}${also}`
}

/** The maximum number of characters of a value in a line. */
const MOST_OF_VALUE = 200

function valueText(value: unknown): string {
  return cut(typeof value === 'string' ? value : JSON.stringify(value), MOST_OF_VALUE)
}
