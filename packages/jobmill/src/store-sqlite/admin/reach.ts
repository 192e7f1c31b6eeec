/** Opens an existing file for the database tools, separately from the store, for one read or one change. */
import { existsSync } from 'node:fs'
import { type Connection, lookInFile } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import { retryWhileBusy } from '../connection/retry.ts'
import type { StoreSettings } from '../live.ts'

/** False for an in-memory database, which ends with its store. */
export function isFileThere({ path }: StoreSettings): boolean {
  return path !== ':memory:' && existsSync(path)
}

export async function lookInto<T>(settings: StoreSettings, look: (handle: Connection) => T): Promise<T> {
  return patiently(settings, () => lookInFile(settings.path, look))
}

export function patiently<T>(settings: StoreSettings, work: () => T): Promise<T> {
  return retryWhileBusy(settings, work).catch((error: unknown) => {
    throw storeError(error, settings.path)
  })
}
