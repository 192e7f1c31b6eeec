/** The database tools for a SQLite file. */
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseAdmin, SchemaStatus } from '../../store/admin/admin.ts'
import type { DatabaseResources, Resources } from '../../store/admin/resources.ts'
import { schemaStatus } from '../../store/admin/schema-status.ts'
import { openConnection } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import { filePaths } from '../file/file-paths.ts'
import type { StoreSettings } from '../live.ts'
import { appliedMigrations, schemaSql } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { diagnose } from './diagnose.ts'
import { drop } from './drop.ts'
import { health } from './health.ts'
import { isFileThere, lookInto } from './reach.ts'

export function admin(settings: StoreSettings): DatabaseAdmin & Resources {
  return {
    schema: () => schema(settings),
    schemaSql,
    create: () => create(settings),
    drop: () => drop(settings),
    diagnose: () => diagnose(settings),
    health: () => health(settings),
    resources: () => resources(settings),
  }
}

async function schema(settings: StoreSettings): Promise<SchemaStatus> {
  const applied = isFileThere(settings) ? await lookInto(settings, appliedMigrations) : null
  return schemaStatus(applied, MIGRATIONS)
}

/** Enables the write-ahead log, because an empty file would not be recognized as a database. */
async function create(settings: StoreSettings): Promise<boolean> {
  if (settings.path === ':memory:' || isFileThere(settings)) return false
  try {
    openConnection(settings.path, settings.durability).close()
  } catch (error) {
    throw storeError(error, settings.path)
  }
  return true
}

const OF_A_FILE = { pool: null, server: null } as const

async function resources(settings: StoreSettings): Promise<DatabaseResources> {
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
