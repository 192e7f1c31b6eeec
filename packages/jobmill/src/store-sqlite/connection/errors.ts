/**
 * Maps driver errors to Jobmill errors. Only data errors are permanent: an error with an unlisted code may be
 * temporary. Anything that is not a driver error is a bug and passes through unchanged.
 */
import { type ErrorCode, isJobmillError, JobmillError } from '../../job/errors.ts'
import { storeClosed } from '../../store/lifecycle.ts'

interface Meaning {
  readonly code: ErrorCode
  readonly what: string
  readonly fix: string
}

const DATA: Meaning = {
  code: 'DATA_REFUSED',
  what: 'the database rejected a value',
  fix: 'Change or remove the value that the cause names',
}

/** By the primary result code; SQLite appends details to it (`SQLITE_IOERR_FSYNC`). */
const MEANING: Readonly<Record<string, Meaning>> = {
  SQLITE_TOOBIG: DATA,
  SQLITE_CONSTRAINT: DATA,
  SQLITE_MISMATCH: DATA,
  SQLITE_RANGE: DATA,
  SQLITE_BUSY: {
    code: 'STORE_BUSY',
    what: 'another connection held the write lock of the database for too long',
    fix: 'Retry; check for an open transaction in a program that uses the same file',
  },
  SQLITE_PROTOCOL: {
    code: 'STORE_BUSY',
    what: 'too many connections opened the database at the same time',
    fix: 'Retry the call',
  },
  SQLITE_LOCKED: {
    code: 'STORE_BUSY',
    what: 'a table is locked by another statement on the same handle',
    fix: 'Retry the call after that statement has ended',
  },
  SQLITE_FULL: {
    code: 'STORE_UNAVAILABLE',
    what: 'the disk is full',
    fix: 'Free some disk space, then retry. Nothing was written',
  },
  SQLITE_IOERR: {
    code: 'STORE_UNAVAILABLE',
    what: 'the disk failed to read or write',
    fix: 'Check the disk, its mount and the limits of the process',
  },
  SQLITE_CANTOPEN: {
    code: 'STORE_UNAVAILABLE',
    what: 'the file cannot be opened',
    fix: 'Check the path, and that this user may write to the file and its folder',
  },
  SQLITE_READONLY: {
    code: 'STORE_UNAVAILABLE',
    what: 'the file cannot be written',
    fix: 'Check that this user may write to the file and its folder, and that the disk is not mounted read-only',
  },
  SQLITE_PERM: {
    code: 'STORE_UNAVAILABLE',
    what: 'access to the file is denied',
    fix: 'Check that this user may write to the file and its folder',
  },
  SQLITE_NOMEM: {
    code: 'STORE_UNAVAILABLE',
    what: 'SQLite is out of memory',
    fix: 'Give the process more memory',
  },
  SQLITE_NOTADB: {
    code: 'STORE_UNSUPPORTED',
    what: 'the file is not a SQLite database, or is encrypted',
    fix: 'Pass the path of a database, or of a file that does not exist yet',
  },
  SQLITE_CORRUPT: {
    code: 'STORE_UNSUPPORTED',
    what: 'the file is damaged',
    fix: 'Stop all programs that use it, keep a copy, then restore a backup or run .recover in sqlite3',
  },
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

/** `SQLITE_BUSY` for `SQLITE_BUSY_SNAPSHOT`; empty when it is not a driver error. */
function primaryCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? (/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? '') : ''
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
  if (error instanceof RangeError) return { ...DATA, what: `${DATA.what}: ${error.message}` }
  const code = primaryCode(error)
  if (code === '') return undefined
  const why = error instanceof Error ? error.message : code
  const known = MEANING[code]
  if (known === DATA) return { ...DATA, what: `${DATA.what}: ${why}` }
  if (isPartMissing(why))
    return {
      code: 'STORE_UNAVAILABLE',
      what: `Jobmill tables are missing from the database: ${why}`,
      fix: RESTORE,
    }
  return (
    known ?? {
      code: 'STORE_UNAVAILABLE',
      what: `SQLite refused the statement (${code}): ${why}`,
      fix: 'Run `jobmill db doctor`, and check for programs that change the Jobmill tables',
    }
  )
}

function isPartMissing(why: string): boolean {
  return /no such (?:table: (?:main\.)?jobmill_|column|index)/.test(why)
}

/** Pass `path` when opening that file failed. */
export function storeError(error: unknown, path?: string): unknown {
  const field = path === undefined ? {} : { field: path }
  const meaning = meaningOf(error)
  if (meaning !== undefined)
    return new JobmillError(meaning.code, meaning.what, { ...field, fix: meaning.fix, cause: error })
  if (error instanceof TypeError && error.message.includes('directory does not exist')) {
    return new JobmillError('STORE_UNAVAILABLE', 'the folder of the database does not exist', {
      ...field,
      fix: 'Create the folder, or change the path',
      cause: error,
    })
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
  return new JobmillError('OUTCOME_UNKNOWN', `${what} failed while a transaction was committed (${code})`, {
    fix: 'Check the disk, and whether the write was applied, before you retry the call',
    cause: error,
  })
}

function isSnapshotStale(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY_SNAPSHOT'
}

/** The same for a statement on a user's handle. */
export function userHandleError(error: unknown): unknown {
  if (isSnapshotStale(error)) {
    return new JobmillError(
      'TX_INVALID',
      'read the database before another connection changed it, so it cannot write',
      {
        field: 'tx',
        fix: 'Roll it back and use BEGIN IMMEDIATE (in better-sqlite3: db.transaction(…).immediate())',
        cause: error,
      },
    )
  }
  if (error instanceof Error && isPartMissing(error.message)) {
    return new JobmillError('TX_INVALID', 'belongs to a database without the tables of this store', {
      field: 'tx',
      fix: 'Pass a handle of the same file that the store was opened with, after the store is open',
      cause: error,
    })
  }
  return storeError(error)
}
