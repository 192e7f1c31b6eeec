/**
 * Translates errors of PostgreSQL, poolers and the driver. Only defects in Jobmill itself pass through
 * unchanged.
 */
import { isJobmillError, JobmillError } from '../../job/errors.ts'
import { NAMES_UNKNOWN, NamesChanged } from '../names/names-changed.ts'
import { loadPg } from './driver.ts'
import {
  endsConnection,
  isOwnKeyTaken,
  type Meaning,
  meaningAtLogin,
  meaningOf,
  type Origin,
  verdictOf,
} from './sqlstates.ts'

/** Rolled back by the server. The same statement may succeed on a retry. */
const TRANSIENT = new Set(['40001', '40P01', '55P03'])

const CHECK_FIRST = 'Check whether the write was applied before you retry, or retry with the same job ids'

/** Errors raised by the driver itself, before or instead of the server. */
const SAID: readonly (readonly [RegExp, string, string])[] = [
  [
    /password must be a (?:non-empty )?string/i,
    'the server requires a password, but the connection settings have none',
    'Pass the option password, or add it to the URL of the database or notifier, with # and @ as %23 and %40',
  ],
  [
    /does not support SSL/i,
    'the server does not support TLS',
    'Omit the option ssl, remove sslmode from the database URL, or enable TLS on the server',
  ],
]

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error) ?? '')
}

/** The server does not know the name of a prepared statement, or already has it. */
export function isNameLost(error: unknown): boolean {
  return ['26000', '42P05'].includes(codeOf(error) ?? '')
}

/** The result type of a prepared statement changed, for example after a migration or a restore. */
export function isPlanOutdated(error: unknown): boolean {
  return codeOf(error) === '0A000'
}

export function isRepeatedId(error: unknown): boolean {
  const said = saidBelow(error)
  return codeOf(said) === '23505' && said instanceof Error && 'table' in said && said.table === 'job'
}

/** A row has a number that a sequence issued again, because the sequence is behind its table. */
export function isNumberTaken(error: unknown): boolean {
  return isOwnKeyTaken(codeOf(error) ?? '', originOf(saidBelow(error)))
}

/** Two calls got the same lease token, which is a time. A retry gets another one. */
export function isTokenTaken(error: unknown): boolean {
  return originOf(saidBelow(error)).constraint === 'batch_pkey'
}

/** The code from the server or the driver, even inside a JobmillError. */
export function codeOf(error: unknown): string | undefined {
  const said = saidBelow(error)
  return said instanceof Error && 'code' in said && typeof said.code === 'string' ? said.code : undefined
}

function saidBelow(error: unknown): unknown {
  return isJobmillError(error) ? error.cause : error
}

/**
 * Whether the server replied and the connection is unchanged. A connection without a reply, or with a reply
 * that may come from a pooler, must not be reused.
 */
export function leavesConnectionUsable(error: unknown): boolean {
  if (isJobmillError(error)) return error.code !== 'OUTCOME_UNKNOWN'
  if (!(error instanceof loadPg().DatabaseError) || error.severity !== 'ERROR') return false
  const code = error.code ?? ''
  return verdictOf(code, error.severity, error) !== 'unknown' && !endsConnection(code)
}

/** Whether the server refused a statement, as the cause of a JobmillError, and can take the next one. */
export function wasAnswered(error: unknown): boolean {
  return isJobmillError(error) && error.cause !== undefined && leavesConnectionUsable(error.cause)
}

/** `sent` says whether the server may have seen a statement that writes. */
export function toJobmillError(error: unknown, { sent }: { readonly sent: boolean }): unknown {
  if (isJobmillError(error)) return error
  if (codeOf(error) === NAMES_UNKNOWN) return new NamesChanged()
  const why = error instanceof Error ? error.message || codeOf(error) || error.name : String(error)
  const severity = severityOf(error)
  // Only for driver errors: a server error may quote any text.
  const said = severity === undefined ? SAID.find(([pattern]) => pattern.test(why)) : undefined
  if (said !== undefined) return new JobmillError('STORE_REFUSED', said[1], { fix: said[2], cause: error })
  if (!sent) return unreachable(error, why)
  if (isDefect(error)) return error
  const code = codeOf(error) ?? ''
  // A RangeError means that the message exceeds what the driver can build.
  const verdict =
    error instanceof RangeError
      ? 'data'
      : verdictOf(severity === undefined ? '' : code, severity, originOf(error))
  if (verdict === 'unknown') return unknownOutcome(error, code, why)
  if (verdict === 'rolled-back') return meant(meaningOf(code), error, why)
  return new JobmillError('DATA_REFUSED', `the database cannot store these values: ${why}`, {
    fix: 'Change or remove the value that the message names',
    cause: error,
  })
}

/** Nothing was sent, so nothing was changed. */
function unreachable(error: unknown, why: string): JobmillError {
  const known = meaningAtLogin(codeOf(error) ?? '')
  if (known !== undefined) return meant(known, error, why)
  return new JobmillError('STORE_UNAVAILABLE', `the database cannot be reached: ${why}`, {
    fix: 'Check the database URL, and that the server is running',
    cause: error,
  })
}

function meant({ code, what, fix }: Meaning, cause: unknown, why: string): JobmillError {
  return new JobmillError(code, `${what}: ${why}`, { cause, ...(fix !== undefined && { fix }) })
}

function unknownOutcome(cause: unknown, code: string, why: string): JobmillError {
  const severity = severityOf(cause)
  const isBroken = severity !== 'ERROR' || code.startsWith('08')
  const what = isBroken
    ? 'the connection was lost before the database replied'
    : 'the reply of the database does not say whether the statement was committed'
  const said = severity === undefined ? '' : ` (${code}: ${why})`
  return new JobmillError('OUTCOME_UNKNOWN', `${what}${said}`, { fix: CHECK_FIRST, cause })
}

/** Undefined if the error is not a reply of the server. */
function severityOf(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error && typeof error.severity === 'string'
    ? error.severity
    : undefined
}

function originOf(error: unknown): Origin {
  return error instanceof Error ? (error as Error & Origin) : {}
}

/** Thrown by Jobmill's own code between two statements. Drivers and servers never raise these types. */
function isDefect(error: unknown): boolean {
  if (error instanceof RangeError) return error.message.includes('call stack')
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError
}
