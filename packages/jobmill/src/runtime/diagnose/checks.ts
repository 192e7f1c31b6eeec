/**
 * Every check of a running system, in one list. Each check gets a scene that was read once, and returns its
 * findings.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { quote } from '../../job/errors.ts'
import type { ConfigDrift } from '../../job/events.ts'
import { versionText } from '../../job/kind/kind-name.ts'
import { countText } from '../../job/text/count-text.ts'
import { spanText } from '../../job/text/span-text.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import { type QueueRecord, UNSERVED_ROWS } from '../../store/types/queue-record.ts'
import type { Check, Found } from './check.ts'
import { FAILING_MS, failingText } from './failing-kinds.ts'
import { WAITS_LONG_MS } from './health.ts'
import { type LiveScene, type Scene, SOME_PERIOD_MS } from './scene.ts'

/** Running instances notice an expired one within seconds. */
const REAPED_WITHIN_MS = 15_000
/** A shorter cool-down needs no attention. */
const COOLS_LONG_MS = 10_000
/** More dead jobs than this within `FAILING_MS` probably have a common cause. */
const MOST_DEATHS = 10

/** The checks of the doctor and of `mill.diagnostics()`. */
export const CHECKS: readonly Check<Scene>[] = [
  {
    check: 'failing',
    about: 'kind',
    find: ({ failing, now }) =>
      failing.map((one) => ({
        name: one.kind,
        level: one.level,
        weight: one.perMinute,
        message: failingText(one, now),
        fix: 'Review the errors, fix the cause, then retry the jobs',
      })),
  },
  {
    check: 'instances',
    about: 'instance',
    find({ instances, deadHolders }) {
      const now = lastSeenAt(instances)
      const unseen = instances.filter(
        ({ id, expiresAt }) => deadHolders.has(id) && (now === null || now - expiresAt > REAPED_WITHIN_MS),
      )
      const alive = instances.filter(isAlive).map(nameOf)
      if (unseen.length === 0)
        return [{ message: alive.length === 0 ? 'no process is running' : `running: ${alive.join(', ')}` }]
      return unseen.map((one) => ({
        name: one.id,
        message: `${nameOf(one)} stopped responding, and its jobs were not reclaimed`,
        fix:
          now === null
            ? 'Start a process, which reclaims the jobs'
            : 'Check the logs of the running processes for "reap", then restart them',
      }))
    },
  },
  {
    check: 'served',
    about: 'kind',
    find({ unservedKinds, instances }) {
      if (unservedKinds.length === 0) return [{ message: 'every kind with waiting jobs has a worker' }]
      return unservedKinds.map(({ queue, kind, minVersion, jobs }) => {
        // The store stops counting at this number.
        const many = jobs >= UNSERVED_ROWS ? `${countText(jobs, 'job')} or more` : countText(jobs, 'job')
        const what = `${quote(kind)}${versionText({ minVersion })}`
        const which = `${many} of kind ${what} in queue ${quote(queue)}`
        return {
          name: kind,
          message: `${which} ${jobs === 1 ? 'has' : 'have'} no worker`,
          fix: instances.some(isAlive)
            ? `Start a worker that handles ${what} on queue ${quote(queue)}, or cancel the jobs`
            : 'Start a worker: jobmill work',
        }
      })
    },
  },
  {
    check: 'duties',
    about: 'duty',
    find({ duties, instances, periods }) {
      const now = lastSeenAt(instances)
      // Duties cannot run while no process is running.
      if (now === null) return []
      const firstStart = Math.min(...instances.filter(isAlive).map(({ startedAt }) => startedAt))
      const late = duties.flatMap(({ name, leader, failures, lastSuccessAt }) => {
        const by = instances.find(({ id }) => id === leader)
        const fix = `Check the log of ${by === undefined ? 'the processes' : nameOf(by)} for "${name}"`
        const duty = `duty ${quote(name)}`
        if (failures > 0)
          return [{ name, message: `${duty} has failed ${countText(failures, 'time')} in a row`, fix }]
        const allowedMs = 3 * (periods.get(name) ?? SOME_PERIOD_MS) + DEFAULTS.dutyDeadlineMs
        const agoMs = now - (lastSuccessAt ?? firstStart)
        if (agoMs <= allowedMs) return []
        return [{ name, message: `${duty} has not succeeded for ${spanText(agoMs)}`, fix }]
      })
      return late.length > 0 ? late : [{ message: `all ${duties.length} duties are on time` }]
    },
  },
  {
    check: 'paused',
    about: null,
    find({ queues }) {
      const names = queues.filter((queue) => queue.paused).map(({ name }) => quote(name))
      return names.length === 0 ? [] : [{ message: `paused: ${names.join(', ')}` }]
    },
  },
  {
    check: 'settings',
    about: null,
    find: ({ drift, hidesPayloads }) =>
      drift
        // An operator paused it on purpose.
        .filter(({ field, override }) => field !== 'paused' || override === null)
        .map((difference) => {
          const { what, name } = difference
          const message = `${what} ${quote(name)}: ${driftText(difference, hidesPayloads)}`
          return { what, name, message, fix: driftFix(difference), level: 'notice' }
        }),
  },
]

/** The further checks of `mill.diagnostics()`. */
export const LIVE_CHECKS: readonly Check<LiveScene>[] = [
  {
    check: 'dead',
    about: 'queue',
    find: ({ series, counts }) =>
      counts.flatMap(({ queue, dead }): readonly Found[] => {
        const lately = series.find((one) => one.queue === queue)?.all.counters.dead ?? 0
        if (lately > MOST_DEATHS) {
          const message = `${countText(lately, 'job')} failed permanently in queue ${quote(queue)} in the last ${FAILING_MS / 60_000} min`
          const fix = 'Review the errors, fix the cause, then retry the jobs'
          return [{ name: queue, message, fix, weight: lately / (FAILING_MS / 60_000) }]
        }
        // Dead jobs need a decision, even a single one.
        const message = `queue ${quote(queue)} has ${countText(dead, 'dead job')}`
        const fix = 'Review the errors, fix the cause, then retry or delete the jobs'
        return dead === 0 ? [] : [{ name: queue, message, fix, level: 'notice' }]
      }),
  },
  {
    check: 'steps',
    about: 'kind',
    find: ({ unusedSteps }) =>
      [...Map.groupBy(unusedSteps, ({ data }) => data['kind'] as string)].map(([kind, events]) => {
        const names = new Set(events.flatMap(({ data }) => data['steps'] as readonly string[]))
        const steps = [...names].slice(0, 3).map(quote).join(', ')
        const jobs = countText(events.length, 'job')
        return {
          name: kind,
          level: 'notice',
          message: `${jobs} of kind ${quote(kind)} completed without steps that were recorded before: ${steps}`,
          fix: 'Check whether a step was renamed: a renamed step runs again',
        }
      }),
  },
  {
    // An operator paused the queue on purpose, and may have forgotten it.
    check: 'paused',
    about: 'queue',
    find: (scene) =>
      waitingQueues(scene).flatMap(({ name, paused, wait }) => {
        const fix = 'Resume the queue once the reason for the pause is resolved'
        return paused ? [{ name, message: `queue ${quote(name)} is paused, and ${wait}`, fix }] : []
      }),
  },
  {
    check: 'workers',
    about: 'queue',
    find: (scene) =>
      waitingQueues(scene).flatMap(({ name, paused, workers, wait }) => {
        const fix = 'Set workers to 1 or more, or to null for the default of each process'
        const message = `queue ${quote(name)} has 0 workers, and ${wait}`
        return workers === 0 && !paused ? [{ name, message, fix }] : []
      }),
  },
  {
    check: 'cooling',
    about: 'queue',
    find: ({ queues }) =>
      queues.flatMap(({ name, coolingMs, throttles }) => {
        if (coolingMs < COOLS_LONG_MS) return []
        const often = throttles === 0 ? '' : `, after ${countText(throttles, 'throttle')}`
        const message = `queue ${quote(name)} is cooling down for another ${spanText(coolingMs)}${often}`
        const fix =
          'Wait. If it happens often, give the queue a limit that matches what the remote service accepts'
        return [{ name, message, fix }]
      }),
  },
  {
    check: 'waiting',
    about: 'queue',
    find: ({ queues, counts, instances }) =>
      queues.flatMap(({ name, paused, workers, coolingMs }) => {
        const waitedMs = counts.find(({ queue }) => queue === name)?.oldestReadyMs ?? 0
        const isServed = instances.some((one) => isAlive(one) && one.queues.includes(name))
        // Other diagnostics already explain these cases.
        const isExplained = !isServed || paused || workers === 0 || coolingMs > 0
        if (isExplained || waitedMs <= WAITS_LONG_MS) return []
        const message = `the oldest ready job in queue ${quote(name)} has waited for ${spanText(waitedMs)}`
        const fix = 'Open the job to see what blocks it. If all workers are busy, add workers or processes'
        return [{ name, message, fix }]
      }),
  },
  {
    check: 'drained',
    about: 'limit',
    find: ({ limits }) =>
      limits.flatMap(({ name, drainedMs }) => {
        const message = `limit ${quote(name)} grants nothing for another ${spanText(drainedMs)}`
        const fix = 'Wait. A handler or an operator drained the limit'
        return drainedMs > 0 ? [{ name, message, fix }] : []
      }),
  },
  {
    check: 'schedules',
    about: 'schedule',
    find: ({ schedules }) =>
      schedules.flatMap(({ name, error }) => {
        const message = `schedule ${quote(name)} failed to enqueue: ${error}`
        const fix = 'Fix the error. The schedule retries automatically'
        return error === null ? [] : [{ name, message, fix }]
      }),
  },
  {
    // This process cannot listen: a pooler refuses LISTEN, or the server cannot be reached.
    check: 'notifier',
    about: 'duty',
    find({ duties }) {
      const failures = duties.find(({ name }) => name === 'listen')?.here?.failures ?? 0
      const message = `this process cannot listen for notifications (${countText(failures, 'failure')} in a row) and polls instead`
      const fix = 'Set the notifier option to the URL of the server itself, not of the pooler, or to false'
      return failures === 0 ? [] : [{ name: 'listen', message, fix }]
    },
  },
]

const isAlive = ({ state }: InstanceRecord): boolean => state === 'alive'
const nameOf = ({ label, id }: InstanceRecord): string => label ?? id

/** The latest heartbeat, by the database clock. Null when no instance is alive. */
function lastSeenAt(instances: readonly InstanceRecord[]): number | null {
  const alive = instances.filter(isAlive)
  return alive.length === 0 ? null : Math.max(...alive.map(({ renewedAt }) => renewedAt))
}

/** The queues with ready jobs. */
function waitingQueues({ queues, counts }: LiveScene): (QueueRecord & { readonly wait: string })[] {
  return queues.flatMap((queue) => {
    const ready = counts.find((one) => one.queue === queue.name)?.ready ?? 0
    const wait = ready === 1 ? '1 job is waiting' : `${ready} jobs are waiting`
    return ready === 0 ? [] : [{ ...queue, wait }]
  })
}

function driftText({ field, code, stored }: ConfigDrift, hidesPayloads: boolean): string {
  if (hidesPayloads && field === 'payload') return 'payload differs from code'
  if (field === 'deleted') return 'deleted by an operator, but still defined in code'
  return `${field} is ${JSON.stringify(stored)}, but code says ${JSON.stringify(code)}`
}

function driftFix({ what, name, field, override, higherVersion }: ConfigDrift): string {
  if (override === null && higherVersion === null)
    return 'Restart the processes whose code should apply; a process with different code started later'
  const orElse = field === 'deleted' ? 'remove the schedule from code' : 'set the value in code'
  const reset = `Run "jobmill overrides reset ${what} ${name} ${field}", or ${orElse}`
  if (higherVersion === null) return reset
  const raise = `Set version: ${higherVersion + 1} in code, or deploy the release with version ${higherVersion}; a higher version is stored`
  return override === null ? raise : `${reset}. ${raise}`
}
