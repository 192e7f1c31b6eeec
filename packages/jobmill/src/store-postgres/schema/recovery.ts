/**
 * Recovers a store whose database was dropped, emptied or replaced while it was open. Missing tables are
 * recreated after a delay, because a restore drops and creates them one by one and must not find our tables
 * in between. Sequences that are behind their tables are raised.
 */
import { JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Connection } from '../connection/connection.ts'
import { codeOf, isNumberTaken } from '../connection/errors.ts'
import { isMigrated, lockMigrations, migrate, restoreLedger } from './migrate.ts'
import { raiseIfBehind, raiseSequences } from './sequences.ts'
import { restoreSingleRows, restoreSingleRowsIfWrong } from './single-rows.ts'

/** No such table, schema or function. */
const MISSING = new Set(['42P01', '3F000', '42883'])

/** How long tables must be missing before they are recreated. */
const RECREATE_AFTER_MS = 5_000

export interface Recovery {
  /**
   * Runs `verb`. If tables were missing or a sequence was behind its table, restores them and runs it again,
   * unless `isOnce` is set.
   */
  readonly run: <T>(verb: () => Promise<T>, isOnce: boolean) => Promise<T>
  /** Called at every start. Repairs what a restore or a switchover left behind. */
  readonly onOpened: () => Promise<void>
  /** Called when the database is another copy than before. */
  readonly onReplaced: () => Promise<void>
}

export interface RecoveryOptions {
  readonly connection: Connection
  readonly schema: string
  readonly sql: (text: string) => string
  readonly deadlineMs: number
  readonly platform: Platform
}

export function recovery(options: RecoveryOptions): Recovery {
  const { connection, schema, sql, platform } = options
  let missingSince: number | null = null
  let completing: Promise<void> | null = null
  let raising: Promise<void> | null = null

  async function complete(cause: unknown): Promise<void> {
    if (await isMigrated(options)) {
      missingSince = null
      return
    }
    const now = platform.monotonic()
    missingSince ??= now
    if (now - missingSince < RECREATE_AFTER_MS) throw tablesMissing(cause)
    await migrate(options)
    missingSince = null
    warn('missing tables were recreated')
  }

  return {
    async run(verb, isOnce) {
      try {
        return await verb()
      } catch (error) {
        if (isNumberTaken(error)) {
          raising ??= raiseSequences(options).finally(() => (raising = null))
          await raising
          if (isOnce) throw error
          return verb()
        }
        if (!MISSING.has(codeOf(error) ?? '')) throw error
        completing ??= complete(error).finally(() => (completing = null))
        await completing
        if (isOnce)
          throw tablesMissing(
            error,
            'Roll back, then retry the transaction. If it fails again, restore a backup',
          )
      }
      return verb()
    },
    async onOpened() {
      await raiseIfBehind(options)
      await restoreSingleRowsIfWrong(options)
    },
    async onReplaced() {
      warn('queues, limits and schedules of this process are declared again')
      await connection.transaction(async (query) => {
        await lockMigrations(query, schema)
        await restoreLedger(query, options)
        await restoreSingleRows(query, sql)
      })
      await raiseSequences(options)
    },
  }
}

const RESTORE = `Restore a backup. Otherwise Jobmill recreates empty tables after ${RECREATE_AFTER_MS / 1_000} s`

function tablesMissing(cause: unknown, fix = RESTORE): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', 'the Jobmill tables are missing', { fix, cause })
}

function warn(what: string): void {
  process.emitWarning(`database was replaced or restored: ${what}`, {
    type: 'JobmillWarning',
    code: 'DATABASE_REPLACED',
  })
}
