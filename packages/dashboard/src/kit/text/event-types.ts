/** The types of lifecycle events that the server keeps, for the filter. */
import { eventLevel } from './event-words.ts'

const EVENT_TYPES = [
  'mill-started',
  'mill-quiet',
  'mill-resumed',
  'stop-requested',
  'mill-stopping',
  'mill-stopped',
  'instance-lost',
  'instance-back',
  'reaped',
  'leases-found',
  'lease-lost',
  'stuck',
  'steps-unused',
  'kind-unknown',
  'queue-unknown',
  'queue-cooling',
  'queue-resumed',
  'queue-changed',
  'limit-drained',
  'payload-patched',
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

/** Failures and warnings, without recoveries. */
const TROUBLE: readonly string[] = EVENT_TYPES.filter((type) => eventLevel({ type }) !== 'plain')
/** A schedule may fire every second, and one retry may patch a million jobs: they would hide other events. */
const FREQUENT: readonly string[] = ['schedule-fired', 'payload-patched']
const QUIET_TYPES: readonly string[] = EVENT_TYPES.filter((type) => !FREQUENT.includes(type))

/** Events that every start of a process causes. */
const ROUTINE: readonly string[] = ['leading', 'led', 'rebalanced']
export const NOTABLE_TYPES: readonly string[] = QUIET_TYPES.filter((type) => !ROUTINE.includes(type))

/** The choices of the filter. `key` is its value in the URL; empty for the default. */
export const CHOICES = [
  { key: '', name: `all except ${FREQUENT.join(', ')}`, types: QUIET_TYPES },
  { key: 'all', name: 'everything', types: [] },
  { key: 'trouble', name: 'failures and warnings', types: TROUBLE },
  ...EVENT_TYPES.map((type) => ({ key: type, name: type, types: [type] })),
] as const
