/**
 * Recovers a store whose database was dropped, emptied or replaced while it was open. Missing tables are
 * recreated after a delay, because a restore drops and creates them one by one and must not find our tables
 * in between. Sequences that are behind their tables are raised.
 */
import { JobmillError } from '../../job/errors.ts'
import { codeOf, isNumberTaken, isTokenTaken, wasAnswered } from '../connection/errors.ts'
import { isMigrated, lockMigrations, migrate, restoreLedger, type Target } from './migrate.ts'
import { raiseIfBehind, raiseSequences } from './sequences.ts'
import { restoreSingleRows, restoreSingleRowsIfWrong } from './single-rows.ts'

/** No such table, schema or function. */
const MISSING = new Set(['42P01', '3F000', '42883'])

/** How long tables must be missing before they are recreated. */
const RECREATE_AFTER_MS = 5_000

export function recovery(options: Target) {
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
    /**
     * Runs `verb`. If tables were missing or a sequence was behind its table, restores them and runs it
     * again, unless `isOnce` is set.
     */
    async run<T>(verb: () => Promise<T>, isOnce: boolean): Promise<T> {
      try {
        return await verb()
      } catch (error) {
        if (isNumberTaken(error)) {
          if (!isTokenTaken(error)) {
            raising ??= raiseSequences(options).finally(() => (raising = null))
            await raising
          }
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
    /** Called at every start. Repairs what a restore or a switchover left behind. */
    async onOpened(): Promise<void> {
      await raiseIfBehind(options).catch(throwUnlessAnswered)
      await restoreSingleRowsIfWrong(options).catch(throwUnlessAnswered)
    },
    /** Called when the database is a different copy than before. */
    async onReplaced(): Promise<void> {
      warn('each started process declares its queues, limits and schedules again')
      await connection.transaction(async (query) => {
        await lockMigrations(query, schema)
        await restoreLedger(query, options)
        await restoreSingleRows(query, sql)
      })
      await raiseSequences(options)
    },
  }
}

/** If parts of the schema are missing, the calls that need them report it. */
function throwUnlessAnswered(error: unknown): void {
  if (!wasAnswered(error)) throw error
}

const RESTORE = `Restore a backup. If the tables stay missing for ${RECREATE_AFTER_MS / 1_000} s, the next call recreates them empty`

function tablesMissing(cause: unknown, fix = RESTORE): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', 'the Jobmill tables are missing', { fix, cause })
}

function warn(what: string): void {
  process.emitWarning(`database was replaced or restored: ${what}`, {
    type: 'JobmillWarning',
    code: 'DATABASE_REPLACED',
  })
}
