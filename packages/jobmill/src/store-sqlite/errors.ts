/**
 * What the driver throws, as errors of ours. Only errors in the data are final: a code that is not listed may pass. What is no error of the driver is a defect and goes
 * through as it is.
 */
import { type ErrorCode, isJobmillError, JobmillError } from '../job/errors.ts'
import { storeClosed } from '../store/lifecycle.ts'

interface Meaning {
  readonly code: ErrorCode
  readonly what: string
  readonly fix: string
}

const DATA: Meaning = {
  code: 'DATA_REFUSED',
  what: 'the database will never take these values',
  fix: 'Change or leave out the value that the cause names',
}

/** By the primary result code; SQLite appends details to it (`SQLITE_IOERR_FSYNC`). */
const MEANING: Readonly<Record<string, Meaning>> = {
  SQLITE_TOOBIG: DATA,
  SQLITE_CONSTRAINT: DATA,
  SQLITE_MISMATCH: DATA,
  SQLITE_RANGE: DATA,
  SQLITE_BUSY: {
    code: 'STORE_BUSY',
    what: 'another connection is writing to the database and did not let go in time',
    fix: 'Try again; look for a transaction that stays open in a program that uses the same file',
  },
  SQLITE_PROTOCOL: {
    code: 'STORE_BUSY',
    what: 'too many connections began to use the database at the same moment',
    fix: 'Try again',
  },
  SQLITE_LOCKED: {
    code: 'STORE_BUSY',
    what: 'a table is locked by another statement on the same handle',
    fix: 'Try again when that statement is done',
  },
  SQLITE_FULL: {
    code: 'STORE_UNAVAILABLE',
    what: 'the disk is full',
    fix: 'Free some space; nothing was written',
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
  SQLITE_NOMEM: { code: 'STORE_UNAVAILABLE', what: 'memory ran out', fix: 'Give the process more memory' },
  SQLITE_NOTADB: {
    code: 'STORE_UNSUPPORTED',
    what: 'the file is not a SQLite database, or is encrypted',
    fix: 'Give the path of a database, or of a file that does not exist yet',
  },
  SQLITE_CORRUPT: {
    code: 'STORE_UNSUPPORTED',
    what: 'the file is damaged',
    fix: 'Stop all programs that use it, keep a copy, and restore a backup or run sqlite3 with .recover',
  },
}

const RESTORE =
  'Stop all processes, then restore a backup or use a new file. Run `jobmill db doctor` to see what is missing'

/** Counters start at their last value for a reason: a second job under an old token or place would break the order and the fence. */
export function rowsMissing(): JobmillError {
  return new JobmillError(
    'STORE_UNAVAILABLE',
    'rows that Jobmill keeps for itself were deleted from the database',
    {
      fix: RESTORE,
    },
  )
}

/** `SQLITE_BUSY` for `SQLITE_BUSY_SNAPSHOT`; empty when the error is not of the driver. */
function primaryCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? (/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? '') : ''
}

/** Others were faster, and the same will work in a moment. The second is what a race for the log ends with. */
export function isBusy(error: unknown): boolean {
  return ['SQLITE_BUSY', 'SQLITE_PROTOCOL'].includes(primaryCode(error))
}

/** The statement cannot be run as the tables are: the file itself was reached. */
export function isStatementError(error: unknown): boolean {
  return isJobmillError(error) && primaryCode(error.cause) === 'SQLITE_ERROR'
}

/** Undefined when it is no error of the driver. A value that is too large to be bound is told of by its range. */
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
      what: `tables of Jobmill are missing from the database: ${why}`,
      fix: RESTORE,
    }
  return (
    known ?? {
      code: 'STORE_UNAVAILABLE',
      what: `SQLite refused the statement (${code}): ${why}`,
      fix: 'Run `jobmill db doctor`, and look for programs that change the tables of Jobmill',
    }
  )
}

function isPartMissing(why: string): boolean {
  return /no such (?:table: (?:main\.)?jobmill_|column|index)/.test(why)
}

/** With `path` when it is the opening of that file which failed. */
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
  // Closed while a read waited to be tried again.
  if (error instanceof TypeError && error.message.includes('connection is not open')) return storeClosed()
  return error
}

/** An error of COMMIT itself. When the disk failed, or in a way that nobody listed, the commit may be in the log all the same. */
export function commitError(error: unknown): unknown {
  const code = primaryCode(error)
  const isKnown = code === '' || (Object.hasOwn(MEANING, code) && code !== 'SQLITE_IOERR')
  if (isKnown) return storeError(error)
  const what = code === 'SQLITE_IOERR' ? 'the disk' : 'SQLite'
  return new JobmillError('OUTCOME_UNKNOWN', `${what} failed while a transaction was committed (${code})`, {
    fix: 'Check the disk; send the same call again to find out',
    cause: error,
  })
}

/** SQLITE_BUSY_SNAPSHOT, as better-sqlite3 and node:sqlite say it. */
function isSnapshotStale(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    ('code' in error && error.code === 'SQLITE_BUSY_SNAPSHOT') ||
    ('errcode' in error && error.errcode === 517)
  )
}

/** The same for a statement on a user's handle. */
export function userHandleError(error: unknown): unknown {
  if (isSnapshotStale(error)) {
    return new JobmillError(
      'TX_INVALID',
      'has read the database before another connection changed it, so it cannot write',
      {
        field: 'tx',
        fix: 'Roll it back and begin again with BEGIN IMMEDIATE, in better-sqlite3 db.transaction(…).immediate()',
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
