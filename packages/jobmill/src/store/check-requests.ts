/** The checks that stand in front of every store: each takes a request as it came and gives it back as stores may rely on it. */
import { BOUNDS, DEFAULTS } from '../job/defaults.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { storableText } from '../job/error-text.ts'
import { checkJsonText } from '../job/json-text.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { checkId, checkName } from '../job/names.ts'
import { checkOneOf, checkWhole } from '../job/numbers.ts'
import { OUTCOMES } from '../job/outcome.ts'
import { checkQueueSettings, type QueuePatch } from '../job/queue-settings.ts'
import { isEnded, JOB_STATES } from '../job/state.ts'
import type { ClaimRequest } from './claim.ts'
import type { Finish, Progress, Transition } from './finish.ts'
import type { NewInstance, PulseRequest } from './instance.ts'
import type { JobFilter, PageRequest } from './job-list.ts'

const DURATION = { least: 0, most: BOUNDS.durationMs }
const INSTANT = { least: -BOUNDS.lastInstantAt, most: BOUNDS.lastInstantAt }
const TOKEN = { least: 0, most: Number.MAX_SAFE_INTEGER }
const TO = ['done', 'scheduled', 'ready', 'dead', 'cancelled'] as const satisfies readonly Transition['to'][]

export function checkIds(ids: readonly string[]): string[] {
  if (!Array.isArray(ids)) {
    throw new JobmillError('OPTION_INVALID', 'must be an array of job ids', {
      field: 'ids',
      value: shown(ids),
      fix: 'Put a single id into an array',
    })
  }
  return ids.map((id: unknown, at) => checkId(id, `ids[${at}]`))
}

export function checkClaim(request: ClaimRequest): ClaimRequest {
  checkObjectKeys(request, 'request', ['instance', 'queues', 'kinds', 'limit', 'suspects'])
  checkWhole(request.limit, 'limit', { least: 1, most: BOUNDS.claimLimit })
  checkOneOf(request.suspects, 'suspects', ['skip', 'only'])
  for (const [at, { room }] of request.queues.entries()) {
    checkWhole(room, `queues[${at}].room`, { least: 0, most: BOUNDS.workers.most })
  }
  return { ...request, instance: checkId(request.instance, 'instance') }
}

export function checkPulse(request: PulseRequest): PulseRequest {
  checkObjectKeys(request, 'request', ['instance', 'leaseMs', 'renewEveryMs', 'queues', 'kinds'])
  checkWhole(request.leaseMs, 'leaseMs', DURATION)
  checkWhole(request.renewEveryMs, 'renewEveryMs', DURATION)
  return { ...request, instance: checkId(request.instance, 'instance') }
}

export function checkInstance(instance: NewInstance): NewInstance {
  checkObjectKeys(instance, 'instance', ['id', 'label', 'version', 'queues', 'kinds', 'capacity', 'leaseMs'])
  checkWhole(instance.capacity, 'capacity', BOUNDS.workers)
  checkWhole(instance.leaseMs, 'leaseMs', DURATION)
  for (const [at, queue] of instance.queues.entries()) checkName(queue, `queues[${at}]`)
  for (const [at, kind] of instance.kinds.entries()) checkName(kind, `kinds[${at}]`)
  return {
    ...instance,
    id: checkId(instance.id, 'id'),
    label: instance.label === null ? null : storableText(instance.label),
    version: instance.version === null ? null : storableText(instance.version),
  }
}

export function checkFinish(item: Finish, index: number): Finish {
  const at = `items[${index}]`
  const { transition, outcome, ranMs, error, cool } = item
  checkOneOf(transition.to, `${at}.transition.to`, TO)
  if (outcome !== null) checkOneOf(outcome, `${at}.outcome`, OUTCOMES)
  else if (isEnded(transition.to)) {
    throw new JobmillError('OPTION_INVALID', `a job that goes to ${transition.to} needs an outcome`, {
      field: `${at}.outcome`,
      value: 'null',
      index,
      fix: 'Only a job that goes back to waiting may have none',
    })
  }
  if (transition.to === 'scheduled') checkWhole(transition.delayMs, `${at}.transition.delayMs`, DURATION)
  if (transition.to === 'done' && transition.result !== null) {
    checkJsonText(transition.result, `${at}.transition.result`, DEFAULTS.payloadLimitBytes)
  }
  checkWhole(item.token, `${at}.token`, TOKEN)
  if (cool !== undefined) checkCoolDown(cool, `${at}.cool`)
  const whole = ranMs === undefined ? undefined : checkWhole(Math.round(ranMs), `${at}.ranMs`, DURATION)
  return {
    ...item,
    id: checkId(item.id, `${at}.id`),
    ...(whole === undefined ? {} : { ranMs: whole }),
    ...(error === undefined ? {} : { error: storableText(error) }),
  }
}

function checkCoolDown(cool: NonNullable<Finish['cool']>, field: string): void {
  if ('forMs' in cool) {
    checkWhole(cool.forMs, `${field}.forMs`, DURATION)
    return
  }
  checkObjectKeys(cool, field, ['forMs', 'baseMs', 'maxMs', 'quietMs'])
  checkWhole(cool.baseMs, `${field}.baseMs`, DURATION)
  checkWhole(cool.maxMs, `${field}.maxMs`, DURATION)
  checkWhole(cool.quietMs, `${field}.quietMs`, DURATION)
}

export function checkProgress(item: Progress, index: number): Progress {
  checkWhole(item.token, `items[${index}].token`, TOKEN)
  checkJsonText(item.value, `items[${index}].value`, DEFAULTS.payloadLimitBytes)
  return { ...item, id: checkId(item.id, `items[${index}].id`) }
}

export function checkFilter(filter: JobFilter): JobFilter {
  checkObjectKeys(filter, 'filter', [
    'queue',
    'kind',
    'state',
    'tags',
    'enqueuedFrom',
    'enqueuedBefore',
    'payloadText',
  ])
  if (filter.state !== undefined) checkOneOf(filter.state, 'filter.state', JOB_STATES)
  if (filter.enqueuedFrom !== undefined) checkWhole(filter.enqueuedFrom, 'filter.enqueuedFrom', INSTANT)
  if (filter.enqueuedBefore !== undefined) checkWhole(filter.enqueuedBefore, 'filter.enqueuedBefore', INSTANT)
  return filter
}

export function checkPage(page: PageRequest): PageRequest {
  checkObjectKeys(page, 'page', ['limit', 'cursor'])
  checkWhole(page.limit, 'limit', { least: 1, most: BOUNDS.pageLimit })
  return page
}

export function checkPatch(patch: QueuePatch): QueuePatch {
  checkObjectKeys(patch, 'patch', ['settings', 'coolMs'])
  checkQueueSettings(patch.settings, 'patch.settings')
  if (patch.coolMs !== null) checkWhole(patch.coolMs, 'patch.coolMs', DURATION)
  return patch
}
