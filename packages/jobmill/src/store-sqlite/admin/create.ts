/** Creates the file. */
import { openConnection } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import type { StoreSettings } from '../live.ts'
import { isFileThere } from './reach.ts'

/** Enables the write-ahead log, because an empty file would not be recognized as a database. */
export async function create(settings: StoreSettings): Promise<boolean> {
  if (settings.path === ':memory:' || isFileThere(settings)) return false
  try {
    openConnection(settings.path, settings.durability).close()
  } catch (error) {
    throw storeError(error, settings.path)
  }
  return true
}
