/**
 * What an SQLSTATE says about the failed statement (appendix A of the PostgreSQL manual). Only data errors
 * are permanent. All other errors are temporary, including undocumented codes, which poolers and proxies
 * invent.
 */
import type { ErrorCode } from '../../job/errors.ts'
import { expectedParts, ourTables } from '../admin/expected.ts'

/**
 * - `data`: the statement will never succeed with these values.
 * - `rolled-back`: the server rolled the statement back; a retry may succeed.
 * - `unknown`: the session ended, or the code may come from a pooler. The statement may have been
 *   committed.
 */
export type Verdict = 'data' | 'rolled-back' | 'unknown'

/** Data exceptions, constraint violations and exceeded program limits, such as a row that is too large. */
const DATA_CLASSES = new Set(['22', '23', '54'])
/** Type mismatches that values can cause. */
const DATA_CODES = new Set(['42804', '42846'])
/** Codes of these classes that no value causes: an exhausted sequence, too many columns or arguments. */
const NOT_DATA = new Set(['2200H', '54011', '54023'])
/**
 * Functions of the server that raise 54000 for a limit of the server or the transaction: wraparound
 * protection, a full NOTIFY queue, a table of the largest size, too many commands or sort runs. Their names
 * are the same in every language. 54001 is raised for deeply nested JSON, so it remains a data error.
 */
const SERVER_LIMITS = new Set(
  (
    'GetNewTransactionId GetNewMultiXactId PreCommit_Notify mdextend mdzeroextend ExtendBufferedRelShared ' +
    'ExtendBufferedRelLocal ReadBuffer_common CommandCounterIncrement StartSubTransaction PushTransaction ' +
    'selectnewtape inittapestate'
  ).split(' '),
)

/** What the error of the driver says about where the server raised it. */
export interface Origin {
  readonly routine?: string | undefined
  readonly table?: string | undefined
  readonly constraint?: string | undefined
}

/**
 * The keys of our tables, which hold numbers of sequences or rows that concurrent calls may also write. Only
 * the id of a job is a value that the caller chooses.
 */
const ownKeys = new Set(
  [...expectedParts().keys()].flatMap((part) => (part.startsWith('index ') ? [part.split('.')[1]] : [])),
)
ownKeys.delete('job_pkey')
const ownTables = new Set(ourTables())

/** A number of a sequence was issued before, or another call wrote the row first. */
export function isOwnKeyTaken(code: string, { constraint }: Origin): boolean {
  return code === '23505' && constraint !== undefined && ownKeys.has(constraint)
}

/** Whether the values are at fault. The server also raises codes of these classes for its own reasons. */
function isOfData(code: string, origin: Origin): boolean {
  if (DATA_CODES.has(code)) return true
  if (!DATA_CLASSES.has(code.slice(0, 2)) || NOT_DATA.has(code)) return false
  if (code === '54000') return !SERVER_LIMITS.has(origin.routine ?? '')
  // Values are checked before they are sent, so only a missing row of Jobmill leaves a column empty.
  if (code === '23502') return !ownTables.has(origin.table ?? '')
  return !isOwnKeyTaken(code, origin)
}

/**
 * Classes that a server raises inside a transaction, which it then rolls back. JM is raised by our functions.
 * 08 and XX are excluded, because they concern the connection or may mean anything.
 */
const ROLLED_BACK_CLASSES = new Set(
  (
    '02 03 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 ' +
    '58 72 F0 HV JM P0'
  ).split(' '),
)
/**
 * Exceptions to the classes. 40003 is unknown by definition; 25P03, 25P04 and 57P01 to 57P05 end the session;
 * poolers use 58000 for all their errors.
 */
const UNKNOWN_CODES = new Set(['40003', '25P03', '25P04', '57P01', '57P02', '57P04', '57P05', '58000'])
/** Sent to a connection that has not run anything yet. */
const BEFORE_ANYTHING = new Set(['53300', '57P03'])

/**
 * `severity` is as the server sends it. If the messages of the server are translated, it is not `ERROR`, and
 * a rolled-back transaction counts as unknown, which is safe.
 */
export function verdictOf(code: string, severity: string | undefined, origin: Origin): Verdict {
  if (isOfData(code, origin)) return 'data'
  if (BEFORE_ANYTHING.has(code) || REFUSED.has(code)) return 'rolled-back'
  if (severity !== 'ERROR' || UNKNOWN_CODES.has(code)) return 'unknown'
  return ROLLED_BACK_CLASSES.has(code.slice(0, 2)) ? 'rolled-back' : 'unknown'
}

/** Whether to replace the connection: after a failed or read-only transaction, another may work. */
export function endsConnection(code: string): boolean {
  return code.startsWith('25')
}

const CHECK_USER =
  'Check the user and password in the database URL. Write # and @ in a password as %23 and %40'
const CHECK_TABLES =
  'Restore the Jobmill schema from a backup. Run `jobmill db doctor` to see what is missing'

export interface Meaning {
  readonly code: ErrorCode
  readonly what: string
  /** Set if the message alone does not say what to do. */
  readonly fix?: string
}

const refused = (what: string, fix: string): Meaning => ({ code: 'STORE_REFUSED', what, fix })
const busy = (what: string): Meaning => ({ code: 'STORE_BUSY', what })
const unavailable = (what: string, fix?: string): Meaning => ({
  code: 'STORE_UNAVAILABLE',
  what,
  ...(fix !== undefined && { fix }),
})

/** What an SQLSTATE means, by code or else by class (its first two characters). */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '2200H': unavailable('a sequence has no numbers left', 'Run `jobmill db doctor`'),
  '23502': unavailable('a row of the Jobmill tables is missing', CHECK_TABLES),
  '23505': unavailable(
    'a key of the Jobmill tables is taken',
    'Retry. If the error persists, run `jobmill db doctor`',
  ),
  '25006': unavailable('the server is read-only, probably a replica'),
  '28': refused('the server refused the user', CHECK_USER),
  '28P01': refused('the server refused the password', CHECK_USER),
  '3D000': refused(
    'the database does not exist',
    'Create it with jobmill db create, or fix the name in the database URL',
  ),
  '3F000': unavailable('the schema is missing', CHECK_TABLES),
  '40': busy('the database rolled the transaction back'),
  '40001': busy('the database could not serialize the write'),
  '40P01': busy('the database resolved a deadlock'),
  '42501': refused(
    'the database user lacks a privilege',
    'Grant it the privilege, or make it the owner of the schema and its tables. The first start needs CREATE on the database',
  ),
  '42703': unavailable('a column is missing', CHECK_TABLES),
  '42704': unavailable('an object of the schema is missing', CHECK_TABLES),
  '42883': unavailable('a function is missing', CHECK_TABLES),
  '42P01': unavailable('a table is missing', CHECK_TABLES),
  '53': unavailable('the server is out of resources'),
  '53100': unavailable('the disk of the server is full'),
  '53200': unavailable('the server is out of memory'),
  '53300': unavailable('the server has no free connections'),
  '54': unavailable(
    'the server reached one of its limits',
    'Follow the hint in the log of the server, for example: end old transactions and run VACUUM',
  ),
  '55P03': busy('a lock was not available in time'),
  '57014': busy('the statement was cancelled, probably by statement_timeout'),
  '57P03': unavailable('the server is starting up or shutting down'),
  '58': unavailable('the server had a system error'),
}

/** Refused at login, before anything was run. */
const REFUSED = new Set(['28000', '28P01', '3D000', '42501'])

export function meaningOf(code: string): Meaning {
  return meaningAtLogin(code) ?? unavailable(`the server refused the statement (${code})`)
}

/** What an error at login means. A login has written nothing. Undefined if the code has no known meaning. */
export function meaningAtLogin(code: string): Meaning | undefined {
  return MEANINGS[code] ?? MEANINGS[code.slice(0, 2)]
}
