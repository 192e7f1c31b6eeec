/** The store of a test that names none: SQLite in memory, on the clock of the test. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Store } from '../../store/store.ts'
import type { SqliteTx } from '../../store-sqlite/handle.ts'

export async function memoryStore(platform: Platform): Promise<Store<SqliteTx>> {
  // Loaded when it is used: who tests a store of their own need not load a driver of ours.
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
 * The only timer of the store that does not keep a process alive asks whether another process wrote to the file. There is none in memory, and to ask would
 * be 180,000 timers in an hour.
 */
function withoutProbes(platform: Platform): Platform {
  return {
    ...platform,
    timer: (ms, task, options) =>
      options?.unref === true ? { cancel() {} } : platform.timer(ms, task, options),
  }
}
