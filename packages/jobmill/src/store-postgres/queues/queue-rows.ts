/** Rows of queues: columns, and what they mean. */
import { isDeclared, keptQueue, type QueueSources } from '../../job/queue/queue-sources.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import type { QueueRecord } from '../../store/types/queue-record.ts'
import type { Row } from '../connection/connection.ts'
import type { Overrides } from '../../job/queue/overrides.ts'

export const COLUMN: Readonly<Record<keyof QueueSettings, string>> = {
  workers: 'workers',
  paused: 'paused',
  backoffEnabled: 'backoff_enabled',
  backoffBaseMs: 'backoff_base_ms',
  backoffMaxMs: 'backoff_max_ms',
  retainDoneMs: 'retain_done_ms',
  retainCancelledMs: 'retain_cancelled_ms',
  retainDeadMs: 'retain_dead_ms',
  keepDone: 'keep_done',
  keepCancelled: 'keep_cancelled',
  keepDead: 'keep_dead',
  limit: 'limit_name',
}
export const COLUMNS = Object.values(COLUMN).join(', ')
export const TYPED = `workers int4, paused bool, backoff_enabled bool, backoff_base_ms int8, backoff_max_ms int8,
  retain_done_ms int8, retain_cancelled_ms int8, retain_dead_ms int8, keep_done int4, keep_cancelled int4, keep_dead int4,
  limit_name text`

/** The values from code and the overrides, as columns. */
export function sourceColumns(sources: QueueSources): Record<string, unknown> {
  return { declared: isDeclared(sources), ...sources }
}

export function queueSources(row: Row): QueueSources {
  return keptQueue({ ...sourcesOf(row), declared: row['declared'] as boolean }, settingsOf(row))
}

export function columns(settings: Partial<QueueSettings>): Record<string, unknown> {
  const entries = Object.entries(settings) as [keyof QueueSettings, unknown][]
  return Object.fromEntries(entries.map(([key, value]) => [COLUMN[key], value]))
}

export function recordOf(row: Row): QueueRecord {
  return {
    name: row['name'] as string,
    ...settingsOf(row),
    coolingMs: row['cooling_ms'] as number,
    throttles: row['throttles'] as number,
  }
}

export function settingsOf(row: Row): QueueSettings {
  return {
    workers: row['workers'] as number | null,
    paused: row['paused'] as boolean,
    backoffEnabled: row['backoff_enabled'] as boolean,
    backoffBaseMs: row['backoff_base_ms'] as number,
    backoffMaxMs: row['backoff_max_ms'] as number,
    retainDoneMs: row['retain_done_ms'] as number | null,
    retainCancelledMs: row['retain_cancelled_ms'] as number | null,
    retainDeadMs: row['retain_dead_ms'] as number | null,
    keepDone: row['keep_done'] as number | null,
    keepCancelled: row['keep_cancelled'] as number | null,
    keepDead: row['keep_dead'] as number | null,
    limit: row['limit_name'] as string | null,
  }
}

/** The values from code and the overrides in a row of a queue or a limit. */
export function sourcesOf<Code>(row: Row): { readonly code: Code | null; readonly overrides: Overrides } {
  const code = row['code'] as string | null
  return {
    code: code === null ? null : (JSON.parse(code) as Code),
    overrides: JSON.parse(row['overrides'] as string) as Overrides,
  }
}
