/**
 * The stores under chaos: a server behind a proxy with a standby, and a file; both on a disk that can be
 * filled.
 */
import path from 'node:path'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import type { Place } from '../cluster/places.ts'
import { proxy as createProxy } from './proxy.ts'
import type { Servers } from './scene.ts'
import { type SmallDisk, smallDisk } from './disks/small-disk.ts'

export interface Stage {
  readonly place: Place
  readonly name: string
  readonly postgres: Servers | null
  readonly disk: SmallDisk | null
}

type Closing = (close: () => Promise<unknown>) => void

const DISK_MB = 256

/** Default settings, except for sizes that make it possible to exhaust the server. */
const SETTINGS = {
  fsync: 'on',
  max_connections: '60',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
  wal_keep_size: '0',
}

export async function serverWithStandby(folder: string, closing: Closing): Promise<Stage> {
  const disk = smallDisk(path.join(folder, 'disk'), DISK_MB)
  if (disk !== null) closing(() => Promise.resolve(disk.unmount()))
  // Replication is synchronous: a failover loses no acknowledged write.
  const primary = await startPostgres({
    binaries: 'current',
    settings: { ...SETTINGS, synchronous_standby_names: '*' },
    ...(disk !== null && { under: disk.folder }),
  })
  closing(() => primary.stop())
  await primary.shutDown()
  const standby = await startPostgres({
    binaries: 'current',
    // The default reconnect interval of 5 s would block commits for that long.
    settings: { ...SETTINGS, wal_retrieve_retry_interval: '100ms' },
    copy: { data: primary.data, follows: `host=127.0.0.1 port=${primary.port} user=postgres` },
  })
  closing(() => standby.stop())
  await primary.restart()
  const proxy = await createProxy(primary.port)
  closing(() => proxy.close())
  return {
    place: { store: 'postgres', at: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` },
    name: 'PostgreSQL with a synchronous standby',
    postgres: { primary, standby, proxy },
    disk,
  }
}

export function fileOnDisk(folder: string, closing: Closing): Stage {
  const disk = smallDisk(path.join(folder, 'disk'), DISK_MB)
  if (disk !== null) closing(() => Promise.resolve(disk.unmount()))
  return {
    place: { store: 'sqlite', at: path.join(disk?.folder ?? folder, 'jobs.db') },
    name: 'one SQLite file',
    postgres: null,
    disk,
  }
}
