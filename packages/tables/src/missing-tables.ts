/**
 * Creates the tables again after their PostgreSQL schema was dropped. Waits before it does, because a restore
 * drops and creates them one by one and must not find our tables in between.
 */
import type { ErrorOf } from './place.ts'

/** No such table or schema. */
const MISSING = new Set(['42P01', '3F000'])
/** The same time for which the store waits before it recreates its own tables. */
const RECREATE_AFTER_MS = 5_000

export type MissingTables = ReturnType<typeof missingTables>

/** `migrate` must not call `restore`. */
export function missingTables(migrate: () => Promise<void>, errorOf: ErrorOf) {
  let since: number | null = null
  let migrating: Promise<void> | null = null
  return {
    /** Call it before each use of a connection. */
    async restore(): Promise<void> {
      if (since === null || performance.now() - since < RECREATE_AFTER_MS) return
      migrating ??= migrate()
        .then(() => void (since = null))
        .finally(() => (migrating = null))
      await migrating
    },
    /** Call it with each error of a statement. Returns the error to throw. */
    notice(error: unknown): unknown {
      if (!(error instanceof Error) || !('code' in error) || !MISSING.has(String(error.code))) return error
      since ??= performance.now()
      return errorOf(error, true)
    },
  }
}
