/** The sizes of the file, its log and its disk, from the file system: the database is not opened. */
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseResources } from '../../store/admin/resources.ts'
import { filePaths } from '../file/file-paths.ts'
import type { StoreSettings } from '../live.ts'
import { isFileThere } from './reach.ts'

const OF_A_FILE = { pool: null, server: null } as const

export async function resources(settings: StoreSettings): Promise<DatabaseResources> {
  if (!isFileThere(settings)) return { sizeBytes: null, walBytes: null, disk: null, ...OF_A_FILE }
  const { database, log } = filePaths(settings.path)
  const [sizeBytes, walBytes, disk] = await Promise.all([
    sizeOf(database),
    sizeOf(log),
    diskOf(dirname(database)),
  ])
  return { sizeBytes, walBytes, disk, ...OF_A_FILE }
}

/** 0 for a missing file; a log is missing while no process runs. */
async function sizeOf(path: string): Promise<number> {
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  return size
}

/** What an ordinary user can still write: some file systems reserve a part for root. */
async function diskOf(folder: string): Promise<DatabaseResources['disk']> {
  const found = await statfs(folder).catch(() => null)
  if (found === null) return null
  const { bsize, bavail, blocks } = found
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
