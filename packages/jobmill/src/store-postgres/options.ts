/** The options of the PostgreSQL store, validated and resolved once. */
import { BOUNDS, DEFAULTS } from '../job/defaults.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError, quote } from '../job/errors.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { checkBoolean, checkWhole } from '../job/numbers.ts'
import { BATCH_FROM } from './claim/batches.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import {
  type Address,
  addressOf,
  checkUrl,
  type ConnectionSettings,
  invalid,
  nameOfServer,
  type Password,
  type PoolLike,
  secondAddress,
} from './connection/server-address.ts'

/**
 * Where the server is (`url`, `pool` or `connection`, unless the URL is the first argument) and how to use
 * it.
 */
export interface PostgresOptions {
  /** The URL of the server, unless it is the first argument: `postgres://user:password@host:5432/database`. */
  readonly url?: string
  /**
   * A `pg.Pool`, used for its connection settings only. The store opens its own connections, so that a
   * heartbeat never waits behind your queries.
   */
  readonly pool?: PoolLike
  /** `{ host, port, user, database, password, ssl }`, as for `new pg.Client()`. */
  readonly connection?: ConnectionSettings
  /** TLS: true, or options of `tls.connect()` such as `{ ca, rejectUnauthorized }`. */
  readonly ssl?: boolean | object
  /** A string, or a function that is called for every new connection, for expiring tokens such as IAM. */
  readonly password?: Password
  /** The schema of the tables (default `jobmill`). */
  readonly schema?: string
  /** Connections for statements, in addition to the listening one (default 4). */
  readonly connections?: number
  /** How long a statement may take before its outcome counts as unknown (default 30 s). */
  readonly deadline?: Duration
  /**
   * The URL for LISTEN: a direct one if the main URL points to a pooler, or false to rely on polling. A store
   * without a notifier notifies other processes at most twice per second. Default: the main URL.
   */
  readonly notifier?: string | false
  /**
   * The URL of a replica for reads that may lag: lists, counts, errors, metrics and the timeline. Without a
   * password or TLS options, it uses those of the main URL. If the replica is down or more than 10 s behind,
   * the primary answers.
   */
  readonly readUrl?: string
  /**
   * Whether to prepare frequent statements under a name (default true). The store stops doing so behind a
   * pooler that does not support it.
   */
  readonly namedStatements?: boolean
  /** For tests: replaces the database's time. */
  readonly clock?: () => number
  /** For tests: the minimum number of new jobs for which a claim writes a single row (default 20). */
  readonly batchFrom?: number
  /** For tests: timers, randomness and ids. */
  readonly platform?: Platform
}

const OPTIONS = [
  'url',
  'pool',
  'connection',
  'ssl',
  'password',
  'schema',
  'connections',
  'deadline',
  'notifier',
  'readUrl',
  'namedStatements',
  'clock',
  'batchFrom',
  'platform',
] as const satisfies readonly (keyof PostgresOptions)[]
export interface PostgresSettings {
  /** For messages and logs, without the password. */
  readonly name: string
  readonly url: Address
  readonly schema: string
  readonly connections: number
  readonly deadlineMs: number
  readonly notifier: Address | null
  /** Null without a replica. */
  readonly readUrl: Address | null
  readonly namesStatements: boolean
  readonly clock: (() => number) | undefined
  readonly batchFrom: number
  readonly platform: Platform
}

export function resolveOptions(
  first: string | PostgresOptions,
  second: PostgresOptions = {},
): PostgresSettings {
  checkFirst(first)
  const options = typeof first === 'object' ? first : second
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null || Array.isArray(options))
    throw invalid(
      'options',
      'must be an object',
      `Pass an object with any of these keys: ${OPTIONS.join(', ')}`,
      options,
    )
  checkObjectKeys(options, '', OPTIONS)
  const url = addressOf(typeof first === 'object' ? first : { ...options, url: one(first, options) })
  const { connections = DEFAULTS.connections, deadline = DEFAULTS.statementDeadlineMs } = options
  const schema = options.schema ?? 'jobmill'
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new JobmillError('NAME_INVALID', 'is not a valid schema name', {
      field: 'schema',
      value: quote(schema),
      fix: 'Use at most 48 lowercase letters, digits and _, starting with a letter or _',
    })
  }
  return {
    name: `postgres ${nameOfServer(url)}${schema === 'jobmill' ? '' : ` schema ${schema}`}`,
    url,
    schema,
    connections: checkWhole(connections, 'connections', BOUNDS.connections),
    deadlineMs: durationMs(deadline, 'deadline'),
    notifier: options.notifier === undefined ? url : secondAt('notifier', url, options),
    readUrl: secondAt('readUrl', url, options),
    namesStatements: checkBoolean(options.namedStatements ?? true, 'namedStatements'),
    clock: options.clock,
    batchFrom: options.batchFrom ?? BATCH_FROM,
    platform: options.platform ?? systemPlatform,
  }
}

function one(url: string, { url: other }: PostgresOptions): string {
  if (other === undefined) return url
  throw new JobmillError('OPTION_INVALID', 'is passed twice', {
    field: 'url',
    fix: 'Pass it as the first argument or as an option, not both',
  })
}

/** A pool is a common mistake, and its fields would be reported as unknown options. */
function checkFirst(first: unknown): void {
  if (first === undefined || typeof first === 'string') return
  if (typeof first !== 'object' || first === null)
    throw invalid(
      'url',
      'must be a URL or an object',
      'Pass postgres://user:password@host:5432/database, or an object with url, pool or connection',
      first,
    )
  if (!('query' in first) || typeof first.query !== 'function') return
  const fix = 'Pass postgres({ pool }) with a pg.Pool'
  if ('totalCount' in first) throw invalid('pool', 'a pg.Pool was passed instead of the options', fix)
  const settings = `${fix}, or postgres({ connection }) with settings`
  throw invalid('connection', 'a pg client was passed instead of the options', settings)
}

/** The address of another server, with the login and TLS of the first. Null without a URL. */
function secondAt(
  field: 'notifier' | 'readUrl',
  url: Address,
  { [field]: second, ssl, password }: PostgresOptions,
): Address | null {
  if (second === undefined || (second === false && field === 'notifier')) return null
  const [what, fix] = SECOND[field]
  if (typeof second !== 'string') throw invalid(field, what, fix, second)
  checkUrl(second, field)
  return secondAddress(second, url, { ssl, password })
}

const SECOND = {
  notifier: ['must be a URL or false', 'Pass the URL of the server itself, or false to poll'],
  readUrl: ['must be a URL', 'Pass the URL of a replica, or omit it'],
} as const
