/** The default store of tests: SQLite in memory, on the clock of the test. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { Platform } from '../../platform/platform.ts'
import type { FullStore } from '../../store/store.ts'
import type { SqliteTx } from '../../store-sqlite/connection/handle.ts'

export async function memoryStore(platform: Platform): Promise<FullStore<SqliteTx>> {
  // Loaded on demand, so that tests of a custom store need no SQLite driver.
  const { createSqliteStore } = await import('../../store-sqlite/sqlite-store.ts')
  return createSqliteStore({
    path: ':memory:',
    platform: withoutProbes(platform),
    clock: () => platform.now(),
    durability: 'full',
    busyDeadlineMs: DEFAULTS.statementDeadlineMs,
  })
}

/**
 * The only store timer that does not keep a process alive checks for writes of other processes. No other
 * process writes to an in-memory store, and the checks would be 180,000 timers in an hour.
 */
function withoutProbes(platform: Platform): Platform {
  return {
    ...platform,
    timer: (ms, task, options) =>
      options?.unref === true ? { cancel() {} } : platform.timer(ms, task, options),
  }
}
