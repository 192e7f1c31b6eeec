/** `sqlite(path)`: what a user gives, checked, and the store made of it. */
import { resolve } from 'node:path'
import { DEFAULTS } from '../job/defaults.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { ToolStore } from '../store/store.ts'
import type { SqliteTx } from './handle.ts'
import { createSqliteStore } from './sqlite-store.ts'

export interface SqliteOptions {
  /**
   * `full` (default): what was acknowledged survives a power cut. `relaxed`: it survives the end of the process, but
   * the last commits before a power cut may be lost.
   */
  readonly durability?: 'full' | 'relaxed'
  /** How long a call may wait for other processes to let go of the file, then STORE_BUSY (default 30 s). */
  readonly busyDeadline?: Duration
  /** For tests: what counts as the database's clock, in milliseconds since the epoch. */
  readonly clock?: () => number
  /** For tests: timers, chance and ids. */
  readonly platform?: Platform
}

const KEYS = [
  'durability',
  'busyDeadline',
  'clock',
  'platform',
] as const satisfies readonly (keyof SqliteOptions)[]

/** A store in the file at `path`, which is made when it does not exist; `':memory:'` for one that ends with the store. */
export function sqlite(path: string, options: SqliteOptions = {}): ToolStore<SqliteTx> {
  if (typeof path !== 'string' || path.trim() === '') {
    throw new JobmillError('OPTION_INVALID', 'must be the path of a file', {
      field: 'path',
      value: shown(path),
      fix: "Give a path such as 'jobs.db', or ':memory:'",
    })
  }
  if (/^[a-z]+:\/\//.test(path)) {
    throw new JobmillError('OPTION_INVALID', 'is an address and not a path', {
      field: 'path',
      fix: 'Use the store of jobmill/postgres for a server',
    })
  }
  checkObjectKeys(options, 'options', KEYS)
  const {
    durability = 'full',
    platform = systemPlatform,
    busyDeadline = DEFAULTS.statementDeadlineMs,
  } = options
  if (durability !== 'full' && durability !== 'relaxed') {
    throw new JobmillError('OPTION_INVALID', 'must be full or relaxed', {
      field: 'options.durability',
      value: shown(durability),
      fix: 'Leave it out for full',
    })
  }
  return createSqliteStore({
    path: absolute(path),
    givenPath: path,
    platform,
    clock: options.clock ?? (() => platform.now()),
    durability,
    busyDeadlineMs: durationMs(busyDeadline, 'options.busyDeadline'),
  })
}

/** Once, so that a process that changes its folder later keeps its file. The driver drops white space around a path, too. */
function absolute(path: string): string {
  const trimmed = path.trim()
  return trimmed === ':memory:' ? trimmed : resolve(trimmed)
}
