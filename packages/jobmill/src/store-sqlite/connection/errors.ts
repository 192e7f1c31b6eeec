/**
 * Maps driver errors to Jobmill errors. Only data errors are permanent: an error with an unlisted code may be
 * temporary. Anything that is not a driver error is a bug and passes through unchanged.
 */
import { type ErrorCode, isJobmillError, JobmillError } from '../../job/errors.ts'
import { storeClosed } from '../../store/lifecycle.ts'

const meaning = (code: ErrorCode) => (what: string, fix: string) => ({ code, what, fix })
type Meaning = ReturnType<ReturnType<typeof meaning>>
const busy = meaning('STORE_BUSY')
const unavailable = meaning('STORE_UNAVAILABLE')
const unsupported = meaning('STORE_UNSUPPORTED')

const DATA = meaning('DATA_REFUSED')(
  'the database rejected a value',
  'Change or remove the value that the cause names',
)
const CHECK_RIGHTS = 'Check that this user may write to the file and its folder'

/** Keyed by the primary result code. SQLite appends details to it (`SQLITE_IOERR_FSYNC`). */
const MEANING: Readonly<Record<string, Meaning>> = {
  SQLITE_TOOBIG: DATA,
  SQLITE_CONSTRAINT: DATA,
  SQLITE_MISMATCH: DATA,
  SQLITE_RANGE: DATA,
  SQLITE_BUSY: busy(
    'another connection held the write lock of the database for too long',
    'Retry; check for an open transaction in a program that uses the same file',
  ),
  SQLITE_PROTOCOL: busy('too many connections opened the database at the same time', 'Retry the call'),
  SQLITE_LOCKED: busy(
    'a table is locked by another statement on the same handle',
    'Retry the call after that statement has ended',
  ),
  SQLITE_FULL: unavailable('the disk is full', 'Free some disk space, then retry. Nothing was written'),
  SQLITE_IOERR: unavailable(
    'the disk failed to read or write',
    'Check the disk, its mount and the limits of the process',
  ),
  SQLITE_CANTOPEN: unavailable(
    'the file cannot be opened',
    'Check the path, and that this user may write to the file and its folder',
  ),
  SQLITE_READONLY: unavailable(
    'the file cannot be written',
    `${CHECK_RIGHTS}, and that the disk is not mounted read-only`,
  ),
  SQLITE_PERM: unavailable('access to the file is denied', CHECK_RIGHTS),
  SQLITE_NOMEM: unavailable('SQLite is out of memory', 'Give the process more memory'),
  SQLITE_NOTADB: unsupported(
    'the file is not a SQLite database, or is encrypted',
    'Pass the path of a database, or of a file that does not exist yet',
  ),
  SQLITE_CORRUPT: unsupported(
    'the file is damaged',
    'Stop all programs that use it, keep a copy, then restore a backup or run .recover in sqlite3',
  ),
}

const RESTORE =
  'Stop all processes, then restore a backup or use a new file. Run `jobmill db doctor` to see what is missing'

/**
 * Counters must never restart: a second job with an old token or sequence number would break the fence and
 * the order.
 */
export function rowsMissing(): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', 'internal rows of Jobmill were deleted from the database', {
    fix: RESTORE,
  })
}

/** Empty when it is not a driver error. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** `SQLITE_BUSY` for `SQLITE_BUSY_SNAPSHOT`. */
function primaryCode(error: unknown): string {
  return /^SQLITE_[A-Z]+/.exec(codeOf(error))?.[0] ?? ''
}

/** Another connection was faster, so retry. SQLITE_PROTOCOL reports a lost race for the lock of the log. */
export function isBusy(error: unknown): boolean {
  return ['SQLITE_BUSY', 'SQLITE_PROTOCOL'].includes(primaryCode(error))
}

/** The statement does not match the tables; the file itself is accessible. */
export function isStatementError(error: unknown): boolean {
  return isJobmillError(error) && primaryCode(error.cause) === 'SQLITE_ERROR'
}

/**
 * Undefined when it is not a driver error. The driver throws a RangeError for a value that is too large to
 * bind.
 */
function meaningOf(error: unknown): Meaning | undefined {
  const why = error instanceof Error ? error.message : ''
  if (error instanceof RangeError) return { ...DATA, what: `${DATA.what}: ${why}` }
  if (error instanceof TypeError && why.includes('directory does not exist'))
    return unavailable('the folder of the database does not exist', 'Create the folder, or change the path')
  const code = primaryCode(error)
  if (code === '') return undefined
  const known = MEANING[code]
  if (known === DATA) return { ...DATA, what: `${DATA.what}: ${why}` }
  if (isPartMissing(why)) return unavailable(`Jobmill tables are missing from the database: ${why}`, RESTORE)
  return (
    known ??
    unavailable(
      `SQLite refused the statement (${code}): ${why}`,
      'Run `jobmill db doctor`, and check for programs that change the Jobmill tables',
    )
  )
}

function isPartMissing(why: string): boolean {
  return /no such (?:table: (?:main\.)?jobmill_|column|index)/.test(why)
}

/** Pass `path` when opening that file failed. */
export function storeError(error: unknown, path?: string): unknown {
  const found = meaningOf(error)
  if (found !== undefined) {
    const { code, what, fix } = found
    return new JobmillError(code, what, { ...(path !== undefined && { field: path }), fix, cause: error })
  }
  // The store was closed while a read waited for its retry.
  if (error instanceof TypeError && error.message.includes('connection is not open')) return storeClosed()
  return error
}

/**
 * Maps an error of COMMIT itself. After a disk error or an unlisted error, the commit may be in the log
 * nevertheless.
 */
export function commitError(error: unknown): unknown {
  const code = primaryCode(error)
  const isKnown = code === '' || (Object.hasOwn(MEANING, code) && code !== 'SQLITE_IOERR')
  if (isKnown) return storeError(error)
  const what = code === 'SQLITE_IOERR' ? 'the disk' : 'SQLite'
  return new JobmillError(
    'OUTCOME_UNKNOWN',
    `${what} failed while a transaction was being committed (${code})`,
    {
      fix: 'Check the disk, and whether the write was applied, before you retry the call',
      cause: error,
    },
  )
}

export function isSnapshotStale(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY_SNAPSHOT'
}

const BEGIN_AGAIN = 'Roll it back and use BEGIN IMMEDIATE (in better-sqlite3: db.transaction(…).immediate())'

/** The same for a statement on a user's handle. */
export function userHandleError(error: unknown): unknown {
  const invalid = (what: string, fix: string): JobmillError =>
    new JobmillError('TX_INVALID', what, { field: 'tx', fix, cause: error })
  if (isSnapshotStale(error))
    return invalid(
      'cannot write: another connection wrote after the first read of this transaction',
      BEGIN_AGAIN,
    )
  // SQLite reports this at once in a transaction that has read, because waiting could deadlock.
  if (codeOf(error) === 'SQLITE_BUSY')
    return invalid(
      'cannot write: another connection has the write lock, and a transaction that has read cannot wait for it',
      BEGIN_AGAIN,
    )
  if (primaryCode(error) === 'SQLITE_READONLY')
    return invalid(
      'is read-only',
      'Pass a handle that can write: opened without readonly, and with query_only off',
    )
  if (error instanceof Error && isPartMissing(error.message))
    return invalid(
      'belongs to a database without the tables of this store',
      'Pass a handle of the same file that the store was opened with, after the store is open',
    )
  return storeError(error)
}
