/** Rows of queues: columns, and what they mean. */
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../job/queue/queue-settings.ts'
import { columnOf } from '../../store/column-of.ts'
import type { QueueRecord } from '../../store/types/queue-record.ts'
import type { Row } from '../connection/connection.ts'
import type { Overrides } from '../../job/queue/overrides.ts'

const SETTINGS = Object.keys(DEFAULT_QUEUE_SETTINGS) as (keyof QueueSettings)[]
const settingColumn = (setting: keyof QueueSettings): string =>
  setting === 'limit' ? 'limit_name' : columnOf(setting)

export const COLUMNS = SETTINGS.map(settingColumn)
export const TYPED = `workers int4, paused bool, backoff_enabled bool, backoff_base_ms int8, backoff_max_ms int8,
  retain_done_ms int8, retain_cancelled_ms int8, retain_dead_ms int8, keep_done int4, keep_cancelled int4, keep_dead int4,
  limit_name text, target_latency_ms int8, group_fair bool, group_concurrency int4, group_rate int4, group_rate_per_ms int8`

/** A row `d` with the default settings, and its values in the order of COLUMNS. */
export const DEFAULT_ROW = `json_to_record('${JSON.stringify(columns(DEFAULT_QUEUE_SETTINGS))}') AS d(${TYPED})`
export const DEFAULT_VALUES = COLUMNS.map((column) => `d.${column}`).join(', ')

/** Uses the unique name. A concurrent call that adds the same queues finds them. */
export const ADD_QUEUES = `
INSERT INTO jobmill.queue (name, ${COLUMNS.join(', ')})
SELECT v.name, ${DEFAULT_VALUES} FROM unnest($1::text[]) AS v(name), ${DEFAULT_ROW}
 WHERE NOT EXISTS (SELECT FROM jobmill.queue AS k WHERE k.name = v.name) ORDER BY v.name
ON CONFLICT (name) DO NOTHING RETURNING name`

export function columns(settings: Partial<QueueSettings>): Record<string, unknown> {
  const entries = Object.entries(settings) as [keyof QueueSettings, unknown][]
  return Object.fromEntries(entries.map(([key, value]) => [settingColumn(key), value]))
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
  const settings: unknown = Object.fromEntries(
    SETTINGS.map((setting) => [setting, row[settingColumn(setting)]]),
  )
  return settings as QueueSettings
}

/** The values from code and the overrides in a row of a queue, a limit or a schedule. */
export function sourcesOf<Code>(row: Row): { readonly code: Code | null; readonly overrides: Overrides } {
  const code = row['code'] as string | null
  return {
    code: code === null ? null : (JSON.parse(code) as Code),
    overrides: JSON.parse(row['overrides'] as string) as Overrides,
  }
}
