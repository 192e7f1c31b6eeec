// Creates and removes a fresh place for each cell: a database, an emptied Redis, or a folder. No place is
// used twice.
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { ServerInfo } from '../case.ts'
import { createDatabase, dropDatabase } from '../servers/postgres.ts'
import { redisCommand } from '../servers/redis.ts'
import type { Place, StoreName } from '../system.ts'

export type Servers = Readonly<Partial<Record<StoreName, ServerInfo | undefined>>>

export interface OwnedPlace {
  readonly place: Place
  remove(): Promise<void>
}

let made = 0

/** `under` is the folder of the run. */
export async function makePlace(store: StoreName, servers: Servers, under: string): Promise<OwnedPlace> {
  const folder = mkdtempSync(path.join(under, 'place-'))
  const name = `bench_${++made}`
  const server = servers[store]
  if (store !== 'sqlite' && server === undefined) throw new Error(`no ${store} server is running`)
  const isDatabase = store === 'postgres' && server !== undefined
  if (store === 'redis' && server !== undefined) await redisCommand(server.url, 'FLUSHALL')
  const url = isDatabase
    ? await createDatabase(server.url, name)
    : (server?.url ?? path.join(folder, 'jobs.db'))
  return {
    place: { store, url, folder },
    async remove() {
      if (isDatabase) await dropDatabase(server.url, name)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
