/** The groups of conformance cases. */

/** Each is a part that every store has. */
type RequiredGroup = 'jobs' | 'queues' | 'instances'

/**
 * Optional features of a store: its parts, direct dispatch (`directDispatch`), and transactions of the user
 * (`tx`).
 */
export const OPTIONAL_GROUPS = [
  'overrides',
  'inspect',
  'directDispatch',
  'transactions',
  'schedules',
  'limits',
  'groups',
  'alerts',
  'views',
  'metrics',
  'steps',
  'notifier',
] as const
export type OptionalGroup = (typeof OPTIONAL_GROUPS)[number]

export type Group = RequiredGroup | OptionalGroup
