/** What the read side tells of a queue. */
import { JobmillError, shown } from '../job/errors.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { JobState } from '../job/state.ts'

export interface DeclaredQueue {
  readonly name: string
  /** What code names of it; null when it only has to be there. */
  readonly settings: Partial<QueueSettings> | null
}

export interface QueueRecord extends QueueSettings {
  readonly name: string
  /** How much longer nothing is claimed from it; 0 when it is not cooling. */
  readonly coolingMs: number
  /** Limiter events that the curve counts at the moment. */
  readonly throttles: number
}

export interface QueueCounts extends Readonly<Record<JobState, number>> {
  readonly queue: string
  /** How long the longest-waiting ready job has been ready; null when none is. */
  readonly oldestReadyMs: number | null
}

/** How many ready jobs of each queue `unserved` looks at. */
export const UNSERVED_ROWS = 10_000

/** Jobs that are ready and that no living instance would claim. */
export interface UnservedKind {
  readonly queue: string
  readonly kind: string
  /** How many were found among those looked at. */
  readonly jobs: number
}

export function queueUnknown(name: string): JobmillError {
  return new JobmillError('QUEUE_UNKNOWN', 'no queue has this name', {
    field: 'queue',
    value: shown(name),
    fix: 'Enqueue a job to it or declare it first',
  })
}

/** How far `ahead` counts. */
export const POSITION_MOST = 10_000
