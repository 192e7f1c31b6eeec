/**
 * Argument checks in front of every store. Each takes a raw request and returns it in the form that stores
 * rely on.
 */
import { BOUNDS } from '../../job/defaults.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { storableText } from '../../job/text/error-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkId, checkName } from '../../job/names.ts'
import { checkArray, checkBoolean, checkOneOf, checkWhole } from '../../job/numbers.ts'
import { checkQueueSettings, type QueuePatch } from '../../job/queue/queue-settings.ts'
import { JOB_STATES } from '../../job/state.ts'
import type { ClaimRequest, HandOff } from '../types/claim.ts'
import type { NewInstance, HeartbeatRequest } from '../types/instance.ts'
import type { JobFilter, PageRequest } from '../types/job-list.ts'
import { checkPayloadAt, checkSought } from '../payload-at.ts'

const MOST_NAMES = 100
export const DURATION = { least: 0, most: BOUNDS.durationMs }
const INSTANT = { least: -BOUNDS.lastInstantAt, most: BOUNDS.lastInstantAt }

export function checkIds(ids: readonly string[], field = 'ids'): string[] {
  if (!Array.isArray(ids)) {
    throw new JobmillError('OPTION_INVALID', 'must be an array of job ids', {
      field,
      value: quote(ids),
      fix: 'Pass an array, even for a single id',
    })
  }
  return ids.map((id: unknown, at) => checkId(id, `${field}[${at}]`))
}

export function checkClaim(request: ClaimRequest): ClaimRequest {
  checkObjectKeys(request, 'request', ['instance', 'queues', 'kinds', 'limit', 'quarantined'])
  checkWhole(request.limit, 'limit', { least: 1, most: BOUNDS.claimLimit })
  checkOneOf(request.quarantined, 'quarantined', ['skip', 'only'])
  checkRooms(request.queues, 'queues')
  return { ...request, instance: checkId(request.instance, 'instance') }
}

export function checkHandOff(handOff: HandOff): HandOff {
  checkObjectKeys(handOff, 'handOff', ['instance', 'queues', 'kinds'])
  checkRooms(handOff.queues, 'handOff.queues')
  return { ...handOff, instance: checkId(handOff.instance, 'handOff.instance') }
}

function checkRooms(queues: HandOff['queues'], field: string): void {
  for (const [at, { room }] of queues.entries()) checkWhole(room, `${field}[${at}].room`, BOUNDS.workers)
}

export function checkHeartbeat(request: HeartbeatRequest): HeartbeatRequest {
  checkObjectKeys(request, 'request', ['instance', 'leaseMs', 'renewEveryMs', 'queues', 'kinds', 'duties'])
  checkWhole(request.leaseMs, 'leaseMs', DURATION)
  checkWhole(request.renewEveryMs, 'renewEveryMs', DURATION)
  for (const [at, { name, succeededAgoMs, failures }] of request.duties.entries()) {
    checkName(name, `duties[${at}].name`)
    if (succeededAgoMs !== null) checkWhole(succeededAgoMs, `duties[${at}].succeededAgoMs`, DURATION)
    checkWhole(failures, `duties[${at}].failures`, { least: 0, most: Number.MAX_SAFE_INTEGER })
  }
  return { ...request, instance: checkId(request.instance, 'instance') }
}

export function checkInstance(instance: NewInstance): NewInstance {
  checkObjectKeys(instance, 'instance', [
    'id',
    'label',
    'version',
    'queues',
    'kinds',
    'onDead',
    'capacity',
    'leaseMs',
    'stoodStill',
  ])
  checkWhole(instance.capacity, 'capacity', BOUNDS.workers)
  checkWhole(instance.leaseMs, 'leaseMs', DURATION)
  for (const [at, queue] of instance.queues.entries()) checkName(queue, `queues[${at}]`)
  for (const [at, kind] of instance.kinds.entries()) checkName(kind, `kinds[${at}]`)
  for (const [at, kind] of instance.onDead.entries()) checkOnDead(kind, instance.kinds, `onDead[${at}]`)
  return {
    ...instance,
    id: checkId(instance.id, 'id'),
    label: instance.label === null ? null : storableText(instance.label),
    version: instance.version === null ? null : storableText(instance.version),
  }
}

/** The reaper enqueues follow-ups only for jobs that this instance ran, and it runs only its own kinds. */
function checkOnDead(kind: string, kinds: readonly string[], field: string): void {
  checkName(kind, field)
  if (kinds.includes(kind)) return
  throw new JobmillError('OPTION_INVALID', 'is not among the kinds of the instance', {
    field,
    value: quote(kind),
    fix: 'Add it to kinds, or remove it here',
  })
}

export function checkFilter(filter: JobFilter): JobFilter {
  checkObjectKeys(filter, 'filter', [
    'queue',
    'kind',
    'state',
    'retrying',
    'tags',
    'enqueuedFrom',
    'enqueuedBefore',
    'endedFrom',
    'endedBefore',
    'payloadText',
    'payloadAt',
    'errorText',
  ])
  checkNames(filter.queue, 'filter.queue')
  checkNames(filter.kind, 'filter.kind')
  if (filter.payloadText !== undefined) checkSought(filter.payloadText, 'filter.payloadText')
  if (filter.retrying !== undefined) checkBoolean(filter.retrying, 'filter.retrying')
  if (filter.tags !== undefined) checkTags(filter.tags)
  if (filter.state !== undefined) checkOneOf(filter.state, 'filter.state', JOB_STATES)
  for (const instant of ['enqueuedFrom', 'enqueuedBefore', 'endedFrom', 'endedBefore'] as const)
    if (filter[instant] !== undefined) checkWhole(filter[instant], `filter.${instant}`, INSTANT)
  if (filter.payloadAt !== undefined) checkPayloadAt(filter.payloadAt, 'filter.payloadAt')
  if (filter.errorText !== undefined) checkSought(filter.errorText, 'filter.errorText')
  return filter
}

/** No job has more tags than this, so a filter with more would match nothing. */
function checkTags(given: readonly string[]): void {
  const tags = checkArray(given, 'filter.tags')
  if (tags.length > BOUNDS.tags) {
    throw new JobmillError('OPTION_INVALID', `has more than ${BOUNDS.tags} tags`, {
      field: 'filter.tags',
      value: `${tags.length} tags`,
      fix: `Pass at most ${BOUNDS.tags}`,
    })
  }
  tags.forEach((tag, at) => checkSought(tag, `filter.tags[${at}]`))
}

/** Accepts one name or several. Rejects an empty array, which could mean all jobs or none. */
function checkNames(names: unknown, field: string): void {
  if (names === undefined) return
  if (!Array.isArray(names)) return void checkSought(names, field)
  if (names.length === 0 || names.length > MOST_NAMES)
    throw new JobmillError('OPTION_INVALID', `must have 1 to ${MOST_NAMES} names`, {
      field,
      value: quote(names),
      fix: names.length === 0 ? 'Omit the filter to match all' : 'Use several calls',
    })
  names.forEach((name, at) => checkSought(name, `${field}[${at}]`))
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
