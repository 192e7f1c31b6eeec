/** What stands in the timeline, for its filter: as the server keeps it. */
import { eventLevel } from '../../kit/event-words.ts'

const EVENT_TYPES = [
  'mill-started',
  'mill-stopping',
  'mill-stopped',
  'instance-lost',
  'instance-back',
  'reaped',
  'leases-found',
  'lease-lost',
  'stuck',
  'kind-unknown',
  'queue-cooling',
  'queue-resumed',
  'queue-changed',
  'limit-drained',
  'schedule-fired',
  'schedule-missed',
  'schedule-failing',
  'settings-differ',
  'store-failing',
  'store-back',
  'duty-failing',
  'duty-back',
  'leading',
  'led',
  'rebalanced',
] as const

/** What needs somebody, or did. */
const TROUBLE: readonly string[] = EVENT_TYPES.filter((type) => eventLevel({ type }) !== 'plain')
/** Schedules run so often that they hide the others. */
const QUIET: readonly string[] = EVENT_TYPES.filter((type) => type !== 'schedule-fired')

/** By what stands in the address; empty for the first look. */
export const CHOICES = [
  { key: '', name: 'all but schedule-fired', types: QUIET },
  { key: 'all', name: 'everything', types: [] },
  { key: 'trouble', name: 'trouble', types: TROUBLE },
  ...EVENT_TYPES.map((type) => ({ key: type, name: type, types: [type] })),
] as const
