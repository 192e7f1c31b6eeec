/** Preferences for the job list on this device: its columns and its page size. */
import { useSyncExternalStore } from 'react'
import { preference, type Preference } from '../../../api/user/preference.ts'

export const OPTIONAL_COLUMNS = [
  'id',
  'queue',
  'priority',
  'attempt',
  'enqueued',
  'when',
  'time',
  'tags',
  'orderKey',
  'group',
  'instance',
] as const
export type OptionalColumn = (typeof OPTIONAL_COLUMNS)[number]

export const SIZES = [25, 50, 100, 200] as const
export type Size = (typeof SIZES)[number]

const isColumn = (value: unknown): boolean => OPTIONAL_COLUMNS.includes(value as OptionalColumn)

export const chosenColumns = preference<readonly OptionalColumn[]>(
  'jobs.columns',
  ['id', 'queue', 'attempt', 'enqueued', 'when', 'time', 'tags'],
  (value) => Array.isArray(value) && value.every(isColumn),
)

export const chosenSize = preference<Size>('jobs.size', 50, (value) => SIZES.includes(value as Size))

export function usePreference<T>({ subscribe, get }: Preference<T>): T {
  return useSyncExternalStore(subscribe, get)
}
