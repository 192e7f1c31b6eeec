/**
 * Creates the tables again after their PostgreSQL schema was dropped. Waits before it does, because a restore
 * drops and creates them one by one and must not find our tables in between.
 */
import type { ErrorOf } from './place.ts'

/** No such table or schema. */
const MISSING = new Set(['42P01', '3F000'])
/** The same time for which the store waits before it recreates its own tables. */
const RECREATE_AFTER_MS = 5_000

export interface MissingTables {
  /** Call it before each use of a connection. */
  readonly restore: () => Promise<void>
  /** Call it with each error of a statement. Returns the error to throw. */
  readonly notice: (error: unknown) => unknown
}

/** `migrate` must not call `restore`. */
export function missingTables(migrate: () => Promise<void>, errorOf: ErrorOf): MissingTables {
  let since: number | null = null
  let migrating: Promise<void> | null = null
  async function recreate(): Promise<void> {
    try {
      await migrate()
      since = null
    } finally {
      migrating = null
    }
  }
  return {
    async restore() {
      if (since === null || performance.now() - since < RECREATE_AFTER_MS) return
      migrating ??= recreate()
      await migrating
    },
    notice(error) {
      if (!(error instanceof Error) || !('code' in error) || !MISSING.has(String(error.code))) return error
      since ??= performance.now()
      return errorOf(error, true)
    },
  }
}
