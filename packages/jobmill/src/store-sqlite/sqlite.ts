/** `sqlite(path)`: validates the options and creates the store. */
import { resolve } from 'node:path'
import { DEFAULTS } from '../job/defaults.ts'
import { type Duration, durationMs } from '../job/duration.ts'
import { invalidValue, JobmillError } from '../job/errors.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { type Platform, systemPlatform } from '../platform/platform.ts'
import type { ToolStore } from '../store/store.ts'
import { loadSqlite } from './connection/driver.ts'
import type { SqliteTx } from './connection/handle.ts'
import { createSqliteStore } from './sqlite-store.ts'

export interface SqliteOptions {
  /**
   * `full` (default): acknowledged writes survive a power cut. `relaxed`: they survive the end of the
   * process, but the last commits before a power cut may be lost.
   */
  readonly durability?: 'full' | 'relaxed'
  /** How long a call may wait for the write lock before STORE_BUSY (default 30 s). */
  readonly busyDeadline?: Duration
  /** For tests: the database clock, in milliseconds since the epoch. */
  readonly clock?: () => number
  /** For tests: timers, randomness and ids. */
  readonly platform?: Platform
}

const KEYS: readonly (keyof SqliteOptions)[] = ['durability', 'busyDeadline', 'clock', 'platform']

/**
 * A store in the file at `path`, which is created if necessary; `':memory:'` for one that ends with the
 * store.
 */
export function sqlite(path: string, options: SqliteOptions = {}): ToolStore<SqliteTx> {
  if (typeof path !== 'string' || path.trim() === '') {
    const fix = "Pass a path such as 'jobs.db', or ':memory:'"
    throw invalidValue('path', path, 'must be the path of a file', fix)
  }
  if (/^[a-z]+:\/\//.test(path)) {
    throw new JobmillError('OPTION_INVALID', 'must be a path, not a URL', {
      field: 'path',
      fix: "Pass a path such as 'jobs.db', or use jobmill/postgres to connect to a server",
    })
  }
  checkObjectKeys(options, 'options', KEYS)
  const {
    durability = 'full',
    platform = systemPlatform,
    busyDeadline = DEFAULTS.statementDeadlineMs,
  } = options
  if (durability !== 'full' && durability !== 'relaxed') {
    const fix = 'Pass one of the two, or omit it for "full"'
    throw invalidValue('options.durability', durability, 'must be "full" or "relaxed"', fix)
  }
  loadSqlite()
  return createSqliteStore({
    path: absolute(path),
    givenPath: path,
    platform,
    clock: options.clock ?? (() => platform.now()),
    durability,
    busyDeadlineMs: durationMs(busyDeadline, 'options.busyDeadline'),
  })
}

/**
 * Resolved once, so that a process that changes its working directory keeps its file. Trimmed, as the driver
 * does.
 */
function absolute(path: string): string {
  const trimmed = path.trim()
  return trimmed === ':memory:' ? trimmed : resolve(trimmed)
}
