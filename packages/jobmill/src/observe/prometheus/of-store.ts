/**
 * Cluster-wide metrics from the store, the same in every process, and metrics of its database. Values that
 * could not be read, or that a store does not know, are left out.
 */
import { JOB_STATES } from '../../job/state.ts'
import type { DatabaseResources } from '../../store/admin/resources.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { LimitRecord } from '../../store/types/limit.ts'
import type { QueueCounts, QueueRecord } from '../../store/types/queue-record.ts'
import { type Family, gauge, type Sample } from './text.ts'

/** Each is null when it could not be read. */
export interface StoreView {
  readonly counts: readonly QueueCounts[] | null
  readonly queues: readonly QueueRecord[] | null
  readonly instances: readonly InstanceRecord[] | null
  readonly limits: readonly LimitRecord[] | null
}

/** A record instead of a list, so that the compiler reports a missing state. */
const INSTANCE_STATES: Readonly<Record<InstanceRecord['state'], true>> = {
  alive: true,
  expired: true,
  lost: true,
  stopped: true,
}

export function storeFamilies({ counts, queues, instances, limits }: StoreView): Family[] {
  return [
    gauge(
      'jobs',
      'Jobs in the store, by queue and state.',
      each(counts, (one) =>
        JOB_STATES.map((state) => ({ labels: { queue: one.queue, state }, value: one[state] })),
      ),
    ),
    gauge(
      'oldest_ready_seconds',
      'Age of the oldest ready job; 0 when none is ready.',
      each(counts, ({ queue, oldestReadyMs }) => [
        { labels: { queue }, value: Math.max(0, oldestReadyMs ?? 0) / 1_000 },
      ]),
    ),
    ...queueSettings(queues),
    gauge(
      'instances',
      'Instances in the store, by state; stopped and lost ones are kept for an hour.',
      instances === null ? [] : instancesByState(instances),
    ),
    gauge(
      'limit_tokens',
      'Available tokens or permits of a limit.',
      each(limits, ({ name: limit, available: value }) => [{ labels: { limit }, value }]),
    ),
    gauge(
      'limit_drained_seconds',
      'How much longer a limit is drained and grants nothing; 0 when it is not drained.',
      each(limits, ({ name: limit, drainedMs }) => [{ labels: { limit }, value: drainedMs / 1_000 }]),
    ),
  ]
}

function queueSettings(queues: StoreView['queues']): Family[] {
  return [
    gauge(
      'queue_paused',
      '1 while a queue is paused.',
      each(queues, ({ name: queue, paused }) => [{ labels: { queue }, value: paused ? 1 : 0 }]),
    ),
    gauge(
      'queue_cooling_seconds',
      'How much longer a queue is cooling down; 0 when it is not.',
      each(queues, ({ name: queue, coolingMs }) => [{ labels: { queue }, value: coolingMs / 1_000 }]),
    ),
    gauge(
      'queue_workers',
      'Cluster-wide workers of a queue, if its settings set a total.',
      each(queues, ({ name: queue, workers }) =>
        workers === null ? [] : [{ labels: { queue }, value: workers }],
      ),
    ),
  ]
}

function each<T>(all: readonly T[] | null, samples: (one: T) => Sample[]): Sample[] {
  return (all ?? []).flatMap(samples)
}

function instancesByState(instances: readonly InstanceRecord[]): Sample[] {
  return Object.keys(INSTANCE_STATES).map((state) => ({
    labels: { state },
    value: instances.filter((one) => one.state === state).length,
  }))
}

/** The size of the database, and its connections. */
export function resourceFamilies(resources: DatabaseResources | null): Family[] {
  const { sizeBytes, walBytes, disk, pool, server } = resources ?? {}
  return [
    gauge('database_size_bytes', 'Size of the SQLite file, or of the PostgreSQL database.', sizeBytes),
    gauge(
      'database_wal_bytes',
      'Size of the write-ahead log: of the SQLite file, or of the PostgreSQL server if the role may read it (pg_monitor).',
      walBytes,
    ),
    gauge(
      'database_disk_free_bytes',
      'Free space of the file system that holds the SQLite file.',
      disk?.freeBytes,
    ),
    gauge(
      'database_disk_total_bytes',
      'Size of the file system that holds the SQLite file.',
      disk?.totalBytes,
    ),
    gauge(
      'pool_connections',
      'Open connections of this process to PostgreSQL, without the one for notifications.',
      pool?.open,
    ),
    gauge('pool_connections_busy', 'Connections of this process that are running a statement.', pool?.busy),
    gauge('pool_waiting', 'Statements of this process that are waiting for a connection.', pool?.waiting),
    gauge('server_connections', 'Connections of all clients to the PostgreSQL server.', server?.connections),
    gauge('server_connections_max', 'max_connections of the PostgreSQL server.', server?.most),
  ]
}
