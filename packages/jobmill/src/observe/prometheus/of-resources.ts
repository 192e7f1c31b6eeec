/** Metrics of database size and connections. Values that a store does not know are left out. */
import type { DatabaseResources } from '../../store/resources.ts'
import { type Family, gauge, type Sample } from './text.ts'

export function resourceFamilies(resources: DatabaseResources | null): Family[] {
  const { sizeBytes, walBytes, disk, pool, server } = resources ?? {}
  return [
    gauge('database_size_bytes', 'Size of the SQLite file, or of the PostgreSQL database.', known(sizeBytes)),
    gauge(
      'database_wal_bytes',
      'Size of the write-ahead log: of the SQLite file, or of the PostgreSQL server if the role may read it (pg_monitor).',
      known(walBytes),
    ),
    gauge(
      'database_disk_free_bytes',
      'Free space of the file system that holds the SQLite file.',
      known(disk?.freeBytes),
    ),
    gauge(
      'database_disk_total_bytes',
      'Size of the file system that holds the SQLite file.',
      known(disk?.totalBytes),
    ),
    gauge(
      'pool_connections',
      'Open connections of this process to PostgreSQL, without the one for notifications.',
      known(pool?.open),
    ),
    gauge(
      'pool_connections_busy',
      'Connections of this process that are running a statement.',
      known(pool?.busy),
    ),
    gauge(
      'pool_waiting',
      'Statements of this process that are waiting for a connection.',
      known(pool?.waiting),
    ),
    gauge(
      'server_connections',
      'Connections of all clients to the PostgreSQL server.',
      known(server?.connections),
    ),
    gauge('server_connections_max', 'max_connections of the PostgreSQL server.', known(server?.most)),
  ]
}

function known(value: number | null | undefined): Sample[] {
  return value === null || value === undefined ? [] : [{ value }]
}
