/** Metrics of database size and connections. Values that a store does not know are left out. */
import type { DatabaseResources } from '../../store/admin/resources.ts'
import { type Family, gauge, type Sample } from './text.ts'

export function resourceFamilies(resources: DatabaseResources | null): Family[] {
  const { sizeBytes, walBytes, disk, pool, server } = resources ?? {}
  return [
    gauge(
      'database_size_bytes',
      'Size of the SQLite file, or of the PostgreSQL database.',
      sampleOf(sizeBytes),
    ),
    gauge(
      'database_wal_bytes',
      'Size of the write-ahead log: of the SQLite file, or of the PostgreSQL server if the role may read it (pg_monitor).',
      sampleOf(walBytes),
    ),
    gauge(
      'database_disk_free_bytes',
      'Free space of the file system that holds the SQLite file.',
      sampleOf(disk?.freeBytes),
    ),
    gauge(
      'database_disk_total_bytes',
      'Size of the file system that holds the SQLite file.',
      sampleOf(disk?.totalBytes),
    ),
    gauge(
      'pool_connections',
      'Open connections of this process to PostgreSQL, without the one for notifications.',
      sampleOf(pool?.open),
    ),
    gauge(
      'pool_connections_busy',
      'Connections of this process that are running a statement.',
      sampleOf(pool?.busy),
    ),
    gauge(
      'pool_waiting',
      'Statements of this process that are waiting for a connection.',
      sampleOf(pool?.waiting),
    ),
    gauge(
      'server_connections',
      'Connections of all clients to the PostgreSQL server.',
      sampleOf(server?.connections),
    ),
    gauge('server_connections_max', 'max_connections of the PostgreSQL server.', sampleOf(server?.most)),
  ]
}

function sampleOf(value: number | null | undefined): Sample[] {
  return value === null || value === undefined ? [] : [{ value }]
}
