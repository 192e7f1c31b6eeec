/** The options of the PostgreSQL store, resolved once. */
import { DEFAULTS } from '../job/defaults.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { checkBoolean, checkWhole } from '../job/numbers.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'

export interface PostgresOptions {
  /** Where the tables live. Default `jobmill`. */
  readonly schema?: string
  /** Connections for statements, beside the one that listens. Default 4. */
  readonly connections?: number
  /** How long a statement may take before its outcome counts as unknown. Default 30 s. */
  readonly deadline?: Duration
  /**
   * Where to listen for the doorbell: a direct URL when the main one leads to a pooler, false to live by polling alone.
   * Default: the main URL.
   */
  readonly doorbell?: string | false
  /**
   * Whether the statements that run all the time are prepared under a name (default true): until a pooler that loses names says so. False: never.
   */
  readonly namedStatements?: boolean
  /** For tests: their now instead of the database's. */
  readonly clock?: () => number
  readonly platform?: Platform
}

const OPTIONS = [
  'schema',
  'connections',
  'deadline',
  'doorbell',
  'namedStatements',
  'clock',
  'platform',
] as const satisfies readonly (keyof PostgresOptions)[]
export interface PostgresSettings {
  /** For people and logs: never with the password. */
  readonly name: string
  readonly url: string
  readonly schema: string
  readonly connections: number
  readonly deadlineMs: number
  readonly doorbell: string | null
  readonly namesStatements: boolean
  readonly clock: (() => number) | undefined
  readonly platform: Platform
}

export function resolveOptions(url: string, options: PostgresOptions): PostgresSettings {
  checkObjectKeys(options, '', OPTIONS)
  const schema = options.schema ?? 'jobmill'
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new JobmillError('NAME_INVALID', 'cannot be the name of a schema', {
      field: 'schema',
      value: shown(schema),
      fix: 'Use lower-case letters, digits and _, beginning with a letter, at most 48 characters',
    })
  }
  return {
    name: `postgres ${withoutPassword(url)}${schema === 'jobmill' ? '' : ` schema ${schema}`}`,
    url,
    schema,
    connections:
      options.connections === undefined
        ? 4
        : checkWhole(options.connections, 'connections', { least: 1, most: 100 }),
    deadlineMs:
      options.deadline === undefined
        ? DEFAULTS.statementDeadlineMs
        : durationMs(options.deadline, 'deadline'),
    doorbell: options.doorbell === false ? null : (options.doorbell ?? url),
    namesStatements: checkBoolean(options.namedStatements ?? true, 'namedStatements'),
    clock: options.clock,
    platform: options.platform ?? systemPlatform,
  }
}

/** For people and logs: `user@host:port/database`. */
function withoutPassword(url: string): string {
  if (
    typeof (url as unknown) !== 'string' ||
    !URL.canParse(url) ||
    !/^postgres(?:ql)?:$/.test(new URL(url).protocol)
  ) {
    throw new JobmillError('OPTION_INVALID', 'is not the URL of a PostgreSQL server', {
      field: 'url',
      fix: 'Give postgres://user:password@host:5432/database; # and @ in a password are written %23 and %40',
    })
  }
  const { username, host, pathname } = new URL(url)
  return `${username === '' ? '' : `${decodeURIComponent(username)}@`}${host}${pathname}`
}
