/** Validates the options of alert rules. No error shows a URL or a secret. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs } from '../duration.ts'
import { invalidValue, JobmillError } from '../errors.ts'
import { checkName } from '../names.ts'
import { checkBoolean, checkOneOf } from '../numbers.ts'
import { checkObjectKeys, didYouMean } from '../options/known-keys.ts'
import { CHECK_NAMES, type CheckName, isAbout } from './check-names.ts'
import type { AlertRule } from './rule.ts'

export interface AlertOptions {
  /**
   * The check of `mill.diagnostics()` whose problems are sent, or several. Omitted: the errors and warnings
   * of every check.
   */
  readonly check?: CheckName | readonly CheckName[]
  /** Only problems of this queue. Combined with `kind`: of this queue or this kind. */
  readonly queue?: string
  /** Only problems of this kind. */
  readonly kind?: string
  /** The http or https URL that receives the messages. */
  readonly url: string
  /**
   * Signs the messages: `whsec_` and 24 to 64 bytes in base64. An array signs with each of up to three, for a
   * rotation.
   */
  readonly secret: string | readonly string[]
  /** How long a problem must last before it is sent (default 0). */
  readonly for?: Duration
  /** The minimum time between messages about the same cause, even while it lasts (default 1 h). */
  readonly coolFor?: Duration
  /** Whether to send a message when a reported problem ends (default true). */
  readonly recovery?: boolean
}

/** Omitted options do not change. Null removes the filter. */
export interface AlertChange extends Partial<Omit<AlertOptions, 'check' | 'queue' | 'kind'>> {
  readonly check?: AlertOptions['check'] | null
  readonly queue?: string | null
  readonly kind?: string | null
  /** A paused rule sends nothing. */
  readonly paused?: boolean
}

export const ALERT_KEYS = ['check', 'queue', 'kind', 'url', 'secret', 'for', 'coolFor', 'recovery'] as const

/** A rule from code, or a new one. */
export function newAlert(options: AlertOptions, field: string, inCode: boolean): AlertRule {
  checkObjectKeys(options, field, ALERT_KEYS)
  const { url, secrets, ...rest } = changes(options, field)
  if (url === undefined) throw missing(`${field}.url`)
  if (secrets === undefined) throw missing(`${field}.secret`)
  return fits(
    {
      checks: null,
      queue: null,
      kind: null,
      forMs: 0,
      coolDownMs: DEFAULTS.alertCoolDownMs,
      recovery: true,
      paused: false,
      inCode,
      ...rest,
      url,
      secrets,
    },
    field,
  )
}

export function changedAlert(before: AlertRule, change: AlertChange, field: string): AlertRule {
  checkObjectKeys(change, field, [...ALERT_KEYS, 'paused'])
  const others = Object.keys(change).filter((key) => key !== 'paused')
  if (before.inCode && others.length > 0)
    throw new JobmillError('OPTION_CONFLICT', 'the rule is defined in code, so only paused can be changed', {
      field: `${field}.${others[0]}`,
      fix: 'Change it in the option alerts of jobmill(), or set a rule with another name',
    })
  return fits({ ...before, ...changes(change, field) }, field)
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

function changes(given: AlertChange, field: string): Partial<AlertRule> {
  const rule: Partial<Writable<AlertRule>> = {}
  if (given.check !== undefined) rule.checks = given.check === null ? null : checksOf(given.check, field)
  for (const key of ['queue', 'kind'] as const) {
    const name = given[key]
    if (name !== undefined) rule[key] = name === null ? null : checkName(name, `${field}.${key}`)
  }
  if (given.url !== undefined) rule.url = checkUrl(given.url, `${field}.url`)
  if (given.secret !== undefined) rule.secrets = secretsOf(given.secret, `${field}.secret`)
  if (given.for !== undefined) rule.forMs = durationMs(given.for, `${field}.for`)
  if (given.coolFor !== undefined) rule.coolDownMs = coolDownMs(given.coolFor, `${field}.coolFor`)
  for (const key of ['recovery', 'paused'] as const) {
    const value = given[key]
    if (value !== undefined) rule[key] = checkBoolean(value, `${field}.${key}`)
  }
  return rule
}

/** A rule that never applies would look as if there were no problems. */
function fits(rule: AlertRule, field: string): AlertRule {
  const subjects = (['queue', 'kind'] as const).filter((subject) => rule[subject] !== null)
  const checks = rule.checks ?? CHECK_NAMES
  if (subjects.length === 0) return rule
  const useless = checks.find((check) => !subjects.some((subject) => isAbout(check, subject)))
  if (rule.checks === null || useless === undefined) return rule
  const able = CHECK_NAMES.filter((check) => subjects.some((subject) => isAbout(check, subject)))
  throw invalidValue(
    `${field}.check`,
    useless,
    `does not apply to a ${subjects.join(' or a ')}`,
    `Use one of ${able.join(', ')}, or omit ${subjects.join(' and ')}`,
    'OPTION_CONFLICT',
  )
}

function checksOf(given: NonNullable<AlertOptions['check']>, field: string): CheckName[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (all.length === 0)
    throw new JobmillError('OPTION_INVALID', 'must name a check', {
      field: `${field}.check`,
      fix: 'Omit it to include every check',
    })
  const checks = all.map((check, at) => {
    const path = Array.isArray(given) ? `${field}.check[${at}]` : `${field}.check`
    if (typeof check !== 'string' || CHECK_NAMES.includes(check as CheckName))
      return checkOneOf(check, path, CHECK_NAMES)
    const fix = didYouMean(check, CHECK_NAMES, `Use one of: ${CHECK_NAMES.join(', ')}`)
    throw invalidValue(path, check, 'no check has this name', fix)
  })
  return [...new Set(checks)]
}

const MOST_URL_CHARS = 2_048

function checkUrl(url: unknown, field: string): string {
  const isUrl = typeof url === 'string' && url.length <= MOST_URL_CHARS && URL.canParse(url)
  if (isUrl && /^https?:$/.test(new URL(url).protocol) && hasPlainUser(new URL(url))) return new URL(url).href
  const what = `must be an http or https URL of at most ${MOST_URL_CHARS} characters`
  throw new JobmillError('OPTION_INVALID', what, {
    field,
    fix: 'Pass a URL such as https://example.com/hook',
  })
}

/** Whether the user name and the password can be decoded, to be sent in a header. */
function hasPlainUser({ username, password }: URL): boolean {
  return !/%(?![0-9a-f]{2})/i.test(username + password)
}

/** The URL without the parts that may contain a secret. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

/** Enough to tell two secrets apart. */
export function secretHint(secret: string): string {
  return `whsec_…${secret.slice(-4)}`
}

function secretsOf(given: unknown, field: string): string[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (all.length === 0 || all.length > BOUNDS.alertSecrets)
    throw new JobmillError('OPTION_INVALID', `must be 1 to ${BOUNDS.alertSecrets} secrets`, {
      field,
      fix: `Pass up to ${BOUNDS.alertSecrets}, the newest first`,
    })
  return all.map((secret, at) => {
    if (typeof secret === 'string' && keyOf(secret) !== null) return secret
    const { least, most } = BOUNDS.alertSecretBytes
    throw new JobmillError('OPTION_INVALID', `must be whsec_ plus ${least} to ${most} bytes in base64`, {
      field: Array.isArray(given) ? `${field}[${at}]` : field,
      fix: 'Run: echo "whsec_$(openssl rand -base64 32)"',
    })
  })
}

/** The bytes of a secret; null for a text that is not a secret. */
export function keyOf(secret: string): Buffer | null {
  const [, text = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  const { least, most } = BOUNDS.alertSecretBytes
  return key.length >= least && key.length <= most ? key : null
}

function coolDownMs(given: Duration, field: string): number {
  const ms = durationMs(given, field)
  if (ms >= BOUNDS.shortestCoolDownMs) return ms
  const fix = "Pass a duration such as '1h'; plain numbers are milliseconds"
  const what = `must be at least ${BOUNDS.shortestCoolDownMs} ms`
  throw invalidValue(field, given, what, fix, 'DURATION_INVALID')
}

function missing(field: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'is missing', {
    field,
    fix: { code: 'alert.new' },
  })
}
