/** The states of jobs, in the order in which the dashboard lists them. A test checks that none is missing. */
import type { ListedState, State } from './types.ts'

export const STATES = [
  'scheduled',
  'ready',
  'running',
  'done',
  'dead',
  'cancelled',
] as const satisfies readonly State[]

export const LISTED_STATES = [...STATES, 'retrying'] as const satisfies readonly ListedState[]
