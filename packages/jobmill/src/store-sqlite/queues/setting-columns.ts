/** The columns of queue settings: one table for all statements that read or write them. */
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../job/queue/queue-settings.ts'
import { columnOf } from '../../store/column-of.ts'
import type { Value } from '../connection/handle.ts'

/** The limit is stored by its id, so each statement handles it on its own. */
const { limit: _, ...COLUMN_SETTINGS } = DEFAULT_QUEUE_SETTINGS
const SETTINGS = Object.keys(COLUMN_SETTINGS) as (keyof typeof COLUMN_SETTINGS)[]

/** In the order of `settingValues`. */
export const COLUMNS = [...SETTINGS.map(columnOf), 'limit_id']
export const SELECTED = SETTINGS.map((setting) => `q.${columnOf(setting)} AS ${setting}`).join(', ')

export interface SettingsRow extends Omit<QueueSettings, 'paused' | 'backoffEnabled' | 'groupFair'> {
  readonly paused: number
  readonly backoffEnabled: number
  readonly groupFair: number
}

export function settingsOf(row: SettingsRow): QueueSettings {
  const stored: unknown = Object.fromEntries(SETTINGS.map((setting) => [setting, row[setting]]))
  const booleans = {
    paused: row.paused === 1,
    backoffEnabled: row.backoffEnabled === 1,
    groupFair: row.groupFair === 1,
  }
  return { ...(stored as SettingsRow), ...booleans, limit: row.limit }
}

export function settingValues(settings: QueueSettings, limitId: number | null): Value[] {
  const stored = {
    ...settings,
    paused: Number(settings.paused),
    backoffEnabled: Number(settings.backoffEnabled),
    groupFair: Number(settings.groupFair),
  }
  return [...SETTINGS.map((setting) => stored[setting]), limitId]
}
