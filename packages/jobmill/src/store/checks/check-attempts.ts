/** Argument checks for the outcomes, progress and logs of attempts. */
import { DEFAULTS } from '../../job/defaults.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { storableText } from '../../job/text/error-text.ts'
import { checkJsonText } from '../../job/text/json-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkId, UUID } from '../../job/names.ts'
import { checkBoolean, checkOneOf, checkWhole } from '../../job/numbers.ts'
import { OUTCOMES } from '../../job/attempt/outcome.ts'
import { isEnded } from '../../job/state.ts'
import { DURATION } from './check-requests.ts'
import type { Finish, Progress, Transition } from '../types/finish.ts'

const TOKEN = { least: 0, most: Number.MAX_SAFE_INTEGER }
const TO = ['done', 'scheduled', 'ready', 'dead', 'cancelled'] as const satisfies readonly Transition['to'][]

export function checkFinish(item: Finish, index: number): Finish {
  if (isCommonFinish(item)) return item
  const at = `items[${index}]`
  const { transition, outcome, ranMs, error, log, cool } = item
  checkOneOf(transition.to, `${at}.transition.to`, TO)
  if (outcome !== null) checkOneOf(outcome, `${at}.outcome`, OUTCOMES)
  else if (isEnded(transition.to)) {
    throw new JobmillError('OPTION_INVALID', `must be set for a job that goes to ${transition.to}`, {
      field: `${at}.outcome`,
      value: 'null',
      index,
      fix: 'Pass an outcome. Only a job that goes to scheduled or ready may have none',
    })
  }
  if (transition.to === 'scheduled') checkWhole(transition.delayMs, `${at}.transition.delayMs`, DURATION)
  if (transition.to === 'done') checkDone(transition, `${at}.transition`)
  checkWhole(item.token, `${at}.token`, TOKEN)
  if (cool !== undefined) checkCoolDown(cool, `${at}.cool`)
  const whole = ranMs === undefined ? undefined : checkWhole(Math.round(ranMs), `${at}.ranMs`, DURATION)
  return {
    ...item,
    id: checkId(item.id, `${at}.id`),
    ...(whole === undefined ? {} : { ranMs: whole }),
    ...(error === undefined ? {} : { error: storableText(error) }),
    // Truncate instead of rejecting, because a finish must always be writable.
    ...(log === undefined ? {} : { log: storableText(log, DEFAULTS.logLimitChars) }),
  }
}

/**
 * The fast path for nearly all finishes. The full checks, which name the invalid field, cost several times as
 * much.
 */
function isCommonFinish({ id, token, transition, outcome, ranMs, error, log, cool }: Finish): boolean {
  if (transition.to !== 'done' || outcome !== 'returned') return false
  const { result, forget } = transition
  return (
    error === undefined &&
    log === undefined &&
    cool === undefined &&
    (forget === undefined || typeof forget === 'boolean') &&
    (result === null || isShortJson(result)) &&
    UUID.test(id) &&
    Number.isSafeInteger(token) &&
    token >= 0 &&
    (ranMs === undefined || (ranMs >= 0 && ranMs <= DURATION.most))
  )
}

/** The last text that parsed as JSON. Jobs of a kind often have the same result. */
let known = 'null'

function isShortJson(text: unknown): boolean {
  if (text === known) return true
  try {
    if (typeof text !== 'string' || text.length >= 4_096) return false
    JSON.parse(text)
    known = text
    return true
  } catch {
    return false
  }
}

function checkDone({ result, forget }: Extract<Transition, { to: 'done' }>, field: string): void {
  if (result !== null) checkJsonText(result, `${field}.result`, DEFAULTS.payloadLimitBytes)
  if (forget !== undefined) checkBoolean(forget, `${field}.forget`)
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
  const at = `items[${index}]`
  const { value, log } = item
  if (value === undefined && log === undefined) {
    throw new JobmillError('OPTION_INVALID', 'has neither value nor log', {
      field: at,
      index,
      fix: 'Pass value, log or both',
    })
  }
  checkWhole(item.token, `${at}.token`, TOKEN)
  if (value !== undefined) checkJsonText(value, `${at}.value`, DEFAULTS.payloadLimitBytes)
  return {
    ...item,
    id: checkId(item.id, `${at}.id`),
    ...(log === undefined ? {} : { log: checkLog(log, `${at}.log`) }),
  }
}

function checkLog(log: unknown, field: string): string {
  const limit = DEFAULTS.logLimitChars
  if (typeof log !== 'string') {
    throw new JobmillError('OPTION_INVALID', 'must be a string', {
      field,
      value: quote(log),
      fix: 'Pass one string, with the lines of the log joined',
    })
  }
  if (log.length <= limit) return storableText(log, limit)
  throw new JobmillError('PAYLOAD_TOO_LARGE', `has more than ${limit} characters`, {
    field,
    value: `${log.length} characters`,
    fix: 'Keep only the newest lines, and send the rest to your log system',
  })
}
