/** What PostgreSQL and its driver say, in our words. Anything not listed is a bug and passes through as it is. */
import { type ErrorCode, isJobmillError, JobmillError } from '../job/errors.ts'

/** Rolled back by the server: the same statement may succeed if it is sent again. */
const TRANSIENT = new Set(['40001', '40P01', '55P03'])

const CHECK_USER = 'Check user and password in the address; # and @ in a password are written %23 and %40'

/** What it is, and what to do about it where that is not plain. */
const MEANING: Readonly<Record<string, readonly [ErrorCode, string, string?]>> = {
  '40001': ['STORE_BUSY', 'the database could not serialise the write'],
  '40P01': ['STORE_BUSY', 'the database broke a deadlock'],
  '55P03': ['STORE_BUSY', 'a lock was not free in time'],
  '57014': ['STORE_BUSY', 'the statement was cancelled, probably by statement_timeout'],
  '53300': ['STORE_UNAVAILABLE', 'the server has no connection left for us'],
  '53100': ['STORE_UNAVAILABLE', 'the disk of the server is full'],
  '57P03': ['STORE_UNAVAILABLE', 'the server is starting up or shutting down'],
  '25006': ['STORE_UNAVAILABLE', 'the server is read-only: is this a replica?'],
  '28P01': ['STORE_REFUSED', 'the server refused the password', CHECK_USER],
  '28000': ['STORE_REFUSED', 'the server refused the user', CHECK_USER],
  '3D000': [
    'STORE_REFUSED',
    'there is no such database',
    'Create it, or name another at the end of the address',
  ],
  '42501': [
    'STORE_REFUSED',
    'the database user may not do this',
    'Give it the right to create a schema, or the schema to its own name',
  ],
}

/** What the driver says by itself, before or instead of the server. */
const SAID: readonly (readonly [RegExp, string, string])[] = [
  [
    /password must be a (?:non-empty )?string/i,
    'the server asks for a password, and the address has none',
    CHECK_USER,
  ],
  [
    /does not support SSL/i,
    'the server does not speak TLS',
    'Leave sslmode out of the address, or turn TLS on there',
  ],
]

/** By its administrator, with a crash, with the database, for idling. */
const ENDED_BY_SERVER = new Set(['57P01', '57P02', '57P04', '57P05', '25P03'])

/** A connection that breaks in the middle of a statement leaves its outcome unknown. */
function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined)
    return (
      error instanceof Error &&
      /connection (?:terminated|ended)|client (?:has encountered|was closed)/i.test(error.message)
    )
  return code.startsWith('08') || code.startsWith('E') || ENDED_BY_SERVER.has(code)
}

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error) ?? '')
}

/** The name of a prepared statement is not known to the server, or known to it already, or what it stands for has another result by now. */
export function isNameLost(error: unknown): boolean {
  return ['26000', '42P05', '0A000'].includes(codeOf(error) ?? '')
}

export function isRepeatedId(error: unknown): boolean {
  return codeOf(error) === '23505' && error instanceof Error && 'table' in error && error.table === 'job'
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** `sent` says whether the server may have seen a statement that writes. */
export function inOurWords(error: unknown, { sent }: { readonly sent: boolean }): unknown {
  if (isJobmillError(error)) return error
  const known = MEANING[codeOf(error) ?? '']
  const why = error instanceof Error ? error.message || codeOf(error) : String(error)
  if (known !== undefined) {
    const [code, what, fix] = known
    return new JobmillError(code, `${what}: ${why}`, { cause: error, ...(fix !== undefined && { fix }) })
  }
  const said = SAID.find(([pattern]) => pattern.test(why ?? ''))
  if (said !== undefined) return new JobmillError('STORE_REFUSED', said[1], { fix: said[2], cause: error })
  if (!sent) {
    return new JobmillError('STORE_UNAVAILABLE', `the database cannot be reached: ${why}`, {
      fix: 'Check the address, and that the server runs',
      cause: error,
    })
  }
  if (!isConnectionLoss(error)) return error
  return new JobmillError('OUTCOME_UNKNOWN', 'the connection broke before the database answered', {
    fix: 'Send the same call again: ids and tokens make that safe',
    cause: error,
  })
}
