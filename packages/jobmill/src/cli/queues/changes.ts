/** Queue settings as options, and a summary of what changed. */
import type { QueueChange, QueueGroups, Retention } from '../../job/queue/queue-settings.ts'
import { checkOneOf } from '../../job/numbers.ts'
import type { QueueRecord } from '../../store/types/queue-record.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import { fieldsOf } from '../program/own-words.ts'
import { lengthOf, numberOf } from '../program/typed-values.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { remainingText, optionText } from '../output/wording.ts'
import { invalid } from '../program/invalid.ts'

const ENDED = ['done', 'cancelled', 'dead'] as const

export const QUEUE_OPTIONS: Readonly<Record<string, Option>> = {
  workers: {
    takes: 'N',
    says: 'target number of workers across all processes; if unset, each process uses its own number',
  },
  backoff: { takes: 'on|off', says: 'wait before retries and after throttling' },
  'backoff-base': { takes: 'DURATION', says: 'longest delay of the first retry; doubles after each failure' },
  'backoff-max': { takes: 'DURATION', says: 'longest delay of any retry' },
  ...Object.fromEntries(
    ENDED.flatMap((state): [string, Option][] => [
      [`retain-${state}`, { takes: 'DURATION', says: `keep ${state} jobs this long, or forever` }],
      [`keep-${state}`, { takes: 'N', says: `keep the latest N ${state} jobs, or all` }],
    ]),
  ),
  limit: { takes: 'NAME', says: 'limit that its jobs use, or none' },
  'target-latency': { takes: 'DURATION', says: 'target of the queue latency (p95), or none' },
  'group-fair': { takes: 'on|off', says: 'groups take turns' },
  'group-concurrency': { takes: 'N', says: 'at most N running jobs of each group, or none' },
  'group-rate': { takes: 'N', says: 'at most N started jobs of each group per --group-per, or none' },
  'group-per': { takes: 'DURATION', says: 'period of --group-rate (default 1s)' },
  'cool-for': { takes: 'DURATION', says: 'pause claiming for this long; 0s ends the pause' },
}

/** Maps the library's field names to options. */
export const QUEUE_FIELDS: Readonly<Record<string, string>> = {
  ...fieldsOf('queue', QUEUE_OPTIONS),
  queue: 'NAME',
  'queue.targetLatency': '--target-latency',
  'queue.groups.fair': '--group-fair',
  'queue.groups.concurrency': '--group-concurrency',
  'queue.groups.rate': '--group-rate',
  'queue.groups.per': '--group-per',
  'queue.backoff.base': '--backoff-base',
  'queue.backoff.max': '--backoff-max',
  ...Object.fromEntries(
    ENDED.flatMap((state) => [
      [`queue.retain.${state}.for`, `--retain-${state}`],
      [`queue.retain.${state}.most`, `--keep-${state}`],
    ]),
  ),
}

export function queueChangeOf(parsed: ParsedArguments): QueueChange {
  const enabled = parsed.text('backoff')
  const backoff = omitUndefined({
    enabled: enabled === undefined ? undefined : checkOneOf(enabled, '--backoff', ['on', 'off']) === 'on',
    base: lengthOf(parsed, 'backoff-base'),
    max: lengthOf(parsed, 'backoff-max'),
  })
  const retain = omitUndefined({
    done: retentionOf(parsed, 'done'),
    cancelled: retentionOf(parsed, 'cancelled'),
    dead: retentionOf(parsed, 'dead'),
  })
  const change = omitUndefined({
    workers: parsed.text('workers') === 'unset' ? null : numberOf(parsed, 'workers'),
    backoff: Object.keys(backoff).length === 0 ? undefined : backoff,
    retain: Object.keys(retain).length === 0 ? undefined : retain,
    limit: parsed.text('limit') === 'none' ? null : parsed.text('limit'),
    targetLatency: parsed.text('target-latency') === 'none' ? null : lengthOf(parsed, 'target-latency'),
    groups: groupsOf(parsed),
    coolFor: lengthOf(parsed, 'cool-for'),
  })
  if (Object.keys(change).length > 0) return change
  throw invalid('queues set', 'no setting passed', 'Pass a setting such as --workers 4; --help lists all')
}

function groupsOf(parsed: ParsedArguments): QueueGroups | undefined {
  const fair = parsed.text('group-fair')
  const most = (option: string): number | null | undefined =>
    parsed.text(option) === 'none' ? null : numberOf(parsed, option)
  const groups = omitUndefined({
    fair: fair === undefined ? undefined : checkOneOf(fair, '--group-fair', ['on', 'off']) === 'on',
    concurrency: most('group-concurrency'),
    rate: most('group-rate'),
    per: lengthOf(parsed, 'group-per'),
  })
  return Object.keys(groups).length === 0 ? undefined : groups
}

function retentionOf(parsed: ParsedArguments, state: (typeof ENDED)[number]): Retention | undefined {
  const most = parsed.text(`keep-${state}`) === 'all' ? null : numberOf(parsed, `keep-${state}`)
  const kept = omitUndefined({ for: lengthOf(parsed, `retain-${state}`), most })
  return Object.keys(kept).length === 0 ? undefined : kept
}

function number(n: number | null, otherwise: string): string {
  return n === null ? otherwise : String(n)
}

/** Every setting by the name of its option, formatted as an option value. */
function settingsOf(queue: QueueRecord): Readonly<Record<string, string>> {
  return {
    workers: number(queue.workers, 'unset'),
    backoff: queue.backoffEnabled ? 'on' : 'off',
    'backoff-base': optionText(queue.backoffBaseMs),
    'backoff-max': optionText(queue.backoffMaxMs),
    'retain-done': optionText(queue.retainDoneMs),
    'keep-done': number(queue.keepDone, 'all'),
    'retain-cancelled': optionText(queue.retainCancelledMs),
    'keep-cancelled': number(queue.keepCancelled, 'all'),
    'retain-dead': optionText(queue.retainDeadMs),
    'keep-dead': number(queue.keepDead, 'all'),
    limit: queue.limit ?? 'none',
    'target-latency': queue.targetLatencyMs === null ? 'none' : optionText(queue.targetLatencyMs),
    'group-fair': queue.groupFair ? 'on' : 'off',
    'group-concurrency': number(queue.groupConcurrency, 'none'),
    'group-rate': number(queue.groupRate, 'none'),
    'group-per': queue.groupRatePerMs === null ? 'none' : optionText(queue.groupRatePerMs),
    cooling: queue.coolingMs === 0 ? 'no' : `for ${remainingText(queue.coolingMs)}`,
  }
}

/** `workers  unset → 4`: one line for each changed setting. */
export function changesText(before: QueueRecord, after: QueueRecord): string {
  const [was, is] = [settingsOf(before), settingsOf(after)]
  const changed = Object.keys(is).filter((name) => was[name] !== is[name])
  if (changed.length === 0) return 'values unchanged; they are now overrides, so code no longer changes them'
  const width = Math.max(...changed.map((name) => name.length))
  return changed.map((name) => `${name.padEnd(width)}  ${was[name]} → ${is[name]}`).join('\n')
}
