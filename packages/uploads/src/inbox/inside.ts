/** The shared dependencies of the inbox operations. */
import type { Logger, Platform } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Schema } from '../tables/schema.ts'
import type { FaultPoint } from './fault-points.ts'
import type { Live } from './deliver/live.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { Bridge } from './receive/bridge.ts'
import type { Room } from './receive/room.ts'
import type { SweepCounter } from './sweep/sweep-counter.ts'

export interface Inside {
  readonly tables: Tables<Schema>
  readonly blobs: BlobStore
  readonly limits: Limits
  readonly live: Live
  readonly swept: SweepCounter
  readonly room: Room
  /** Enqueues jobs for new files; null if not configured. */
  readonly bridge: () => Bridge | null
  readonly metrics: Metrics
  /** Null if it is silent. */
  readonly log: Logger | null
  readonly platform: Platform
  /** For tests: called between any two steps; may end the process. */
  readonly fault: (point: FaultPoint) => void | Promise<void>
  /** Receives internal faults, which callers do not see. */
  readonly onError: (error: unknown, what: string) => void
}
