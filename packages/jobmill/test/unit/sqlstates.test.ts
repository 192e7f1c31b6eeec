/**
 * How we classify every class in appendix A of PostgreSQL's manual, the errors of poolers, and every primary
 * code of SQLite: only errors in the data are final.
 */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { isJobmillError, type JobmillError } from '../../src/job/errors.ts'
import { toJobmillError, leavesConnectionUsable } from '../../src/store-postgres/connection/errors.ts'
import type { Origin } from '../../src/store-postgres/connection/sqlstates.ts'
import { commitError, storeError } from '../../src/store-sqlite/connection/errors.ts'

function answer(code: string, severity = 'ERROR', origin: Origin = {}): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('said by the server', 1, 'error'), { code, severity, ...origin })
}

function errorFor(error: unknown, sent = true): JobmillError {
  const translated = toJobmillError(error, { sent })
  if (!isJobmillError(translated)) throw new Error(`passed through as it is: ${String(error)}`)
  return translated
}

type Fate = 'DATA_REFUSED' | 'STORE_BUSY' | 'STORE_REFUSED' | 'STORE_UNAVAILABLE' | 'OUTCOME_UNKNOWN'

/** Every class, and those codes in it that differ from it. */
const ANSWERS: Readonly<Record<Fate, string>> = {
  // All codes of the classes 22, 23 and 54, except those that no value causes.
  DATA_REFUSED:
    '22000 22001 22002 22003 22004 22005 22007 22008 22009 2200B 2200C 2200D 2200F 2200G 2200L 2200M 2200N 2200S ' +
    '2200T 22010 22011 22012 22013 22014 22015 22016 22018 22019 2201B 2201E 2201F 2201G 2201W 2201X 22021 22022 ' +
    '22023 22024 22025 22026 22027 2202E 2202G 2202H 22030 22031 22032 22033 22034 22035 22036 22037 22038 22039 ' +
    '2203A 2203B 2203C 2203D 2203E 2203F 2203G 22P01 22P02 22P03 22P04 22P05 22P06 23000 23001 23502 23503 23505 ' +
    '23514 23P01 54000 54001 42804 42846',
  STORE_BUSY: '40000 40001 40002 40P01 55P03 57014',
  STORE_REFUSED: '28000 28P01 3D000 42501',
  STORE_UNAVAILABLE:
    '2200H 54011 54023 02000 03000 09000 0A000 0B000 0F000 0L000 0P000 0Z000 10608 20000 21000 24000 25000 25001 25006 25P01 25P02 26000 27000 2B000 2BP01 ' +
    '2D000 2F000 34000 38000 39000 3B000 3F000 42000 42601 42703 42883 42P01 42P05 44000 53000 53100 53200 53300 53400 55000 55006 57000 ' +
    '57P03 58030 58P01 72000 F0000 HV000 P0000 P0001 P0004',
  OUTCOME_UNKNOWN:
    '08000 08003 08006 08P01 25P03 25P04 40003 57P01 57P02 57P04 57P05 58000 XX000 XX001 XX002 00000 01000 QQ123 0Q001 99999 S1000',
}
/** The same codes, raised for a reason of the server, or on a key or column of our tables. */
const OWN: readonly (readonly [string, Origin])[] = [
  ...[
    'GetNewTransactionId',
    'GetNewMultiXactId',
    'PreCommit_Notify',
    'mdextend',
    'ExtendBufferedRelShared',
  ].map((routine) => ['54000', { routine }] as const),
  ...[
    'ready_pkey',
    'queue_pkey',
    'kind_pkey',
    'event_pkey',
    'metric_delta_pkey',
    'order_check_pkey',
    'order_queue_pkey',
  ].map((constraint) => ['23505', { constraint }] as const),
  ...['attempt_pkey', 'ready_id_key', 'dedupe_pkey', 'queue_name_key'].map(
    (constraint) => ['23505', { constraint }] as const,
  ),
  ['23502', { table: 'ready' }],
]
/** The same codes, for the values: an index row that is too large, and what a user added to our tables. */
const OF_VALUES: readonly (readonly [string, Origin])[] = [
  ['54000', { routine: '_bt_check_third_page' }],
  ['54000', { routine: 'enlargeStringInfo' }],
  ['54001', { routine: 'check_stack_depth' }],
  ['23505', { table: 'job', constraint: 'job_pkey' }],
  ['23505', { table: 'job', constraint: 'one_job_per_customer' }],
  ['23502', { table: 'invoice' }],
]
const TABLE = Object.entries(ANSWERS).flatMap(([fate, codes]) =>
  codes.split(' ').map((code) => [code, fate] as const),
)
const ROLLED_BACK = ['40001', '53100', '53200', '58030', '42P01']
const RETRYABLE = new Set(['STORE_BUSY', 'STORE_UNAVAILABLE', 'OUTCOME_UNKNOWN'])

describe('postgres', () => {
  test('D1 every SQLSTATE maps to one of our errors: retryable unless caused by data or permissions', () => {
    expect(TABLE.map(([code]) => [code, errorFor(answer(code)).code])).toEqual(TABLE)
    for (const [code, fate] of TABLE)
      expect([code, errorFor(answer(code)).retryable]).toEqual([code, RETRYABLE.has(fate)])
  })

  test('D1 a server limit, or a conflict on a key of ours, is not a data error', () => {
    for (const [code, origin] of OWN) {
      const error = answer(code, 'ERROR', origin)
      expect([code, origin, errorFor(error).code]).toEqual([code, origin, 'STORE_UNAVAILABLE'])
      expect(errorFor(error).retryable).toBe(true)
      expect(leavesConnectionUsable(error)).toBe(true)
      expect(errorFor(answer(code, 'FEHLER', origin)).code).toBe('OUTCOME_UNKNOWN')
    }
    for (const [code, origin] of OF_VALUES)
      expect([code, origin, errorFor(answer(code, 'ERROR', origin)).code]).toEqual([
        code,
        origin,
        'DATA_REFUSED',
      ])
  })

  test('D1 the outcome is unknown if the error ends the session, or has a localized severity', () => {
    for (const severity of ['FATAL', 'PANIC', 'FEHLER', '']) {
      expect(new Set(ROLLED_BACK.map((code) => errorFor(answer(code, severity)).code))).toEqual(
        new Set(['OUTCOME_UNKNOWN']),
      )
      // These are clear on their own: they come before anything runs, or name the data or the user.
      expect(errorFor(answer('53300', severity)).code).toBe('STORE_UNAVAILABLE')
      expect(errorFor(answer('28P01', severity)).code).toBe('STORE_REFUSED')
      expect(errorFor(answer('22P05', severity)).code).toBe('DATA_REFUSED')
    }
  })

  test('D1 an error that is not from the server leaves the outcome unknown, except before a connection exists', () => {
    const broken = [
      Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      Object.assign(new Error(''), { code: 'EPIPE' }),
      new Error('Connection terminated unexpectedly'),
      new Error('Query read timeout'),
      'a text',
      undefined,
    ]
    for (const error of broken) {
      expect(errorFor(error).code).toBe('OUTCOME_UNKNOWN')
      expect(errorFor(error, false).code).toBe('STORE_UNAVAILABLE')
    }
    expect(errorFor(answer('QQ123', 'FATAL'), false).code).toBe('STORE_UNAVAILABLE')
    expect(errorFor(new RangeError('Invalid string length')).code).toBe('DATA_REFUSED')
  })

  test('D1 a bug of our own is passed on unchanged', () => {
    const defect = new TypeError('undefined is not a function')
    expect(toJobmillError(defect, { sent: true })).toBe(defect)
  })

  test('D1 a connection is reused only after an error that leaves it usable', () => {
    const kept = TABLE.filter(([code]) => leavesConnectionUsable(answer(code))).map(([code]) => code)
    const expected = TABLE.filter(([code, fate]) => fate !== 'OUTCOME_UNKNOWN' && !code.startsWith('25'))
    expect(kept).toEqual(expected.map(([code]) => code))
    expect(TABLE.filter(([code]) => leavesConnectionUsable(answer(code, 'FATAL')))).toEqual([])
  })
})

const fail = (code: string): Error => Object.assign(new Error('said by SQLite'), { code })
const codeOf = (error: unknown): unknown => (isJobmillError(error) ? error.code : error)

describe('sqlite', () => {
  const CODES: Readonly<Record<string, string>> = {
    DATA_REFUSED: 'TOOBIG CONSTRAINT CONSTRAINT_CHECK CONSTRAINT_UNIQUE MISMATCH RANGE',
    STORE_BUSY: 'BUSY BUSY_SNAPSHOT PROTOCOL LOCKED',
    STORE_UNAVAILABLE:
      'FULL IOERR IOERR_FSYNC CANTOPEN READONLY PERM NOMEM ERROR INTERNAL ABORT INTERRUPT NOTFOUND EMPTY SCHEMA MISUSE NOLFS AUTH FORMAT NOTICE WARNING MADEUP',
    STORE_UNSUPPORTED: 'NOTADB CORRUPT CORRUPT_VTAB',
  }
  const table = Object.entries(CODES).flatMap(([fate, codes]) =>
    codes.split(' ').map((code) => [`SQLITE_${code}`, fate] as const),
  )

  test('D1 every code maps to one of our errors, and an unlisted code is retryable', () => {
    expect(table.map(([code]) => [code, codeOf(storeError(fail(code)))])).toEqual(table)
    expect(codeOf(storeError(new RangeError('The bound string is too big')))).toBe('DATA_REFUSED')
  })

  test('D1 a commit that fails with an unlisted code has an unknown outcome', () => {
    const unknown = ['SQLITE_IOERR', 'SQLITE_INTERNAL', 'SQLITE_MADEUP'].map((code) =>
      codeOf(commitError(fail(code))),
    )
    expect(unknown).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'])
    expect(codeOf(commitError(fail('SQLITE_FULL')))).toBe('STORE_UNAVAILABLE')
    expect(codeOf(commitError(fail('SQLITE_CONSTRAINT')))).toBe('DATA_REFUSED')
  })
})
