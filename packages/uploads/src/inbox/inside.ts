/** What the verbs of the inbox work with. */
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Schema } from '../tables/schema.ts'
import type { FaultPoint } from './fault-points.ts'
import type { Live } from './live.ts'
import type { Limits } from './limits.ts'
import type { Bridge } from './bridge.ts'
import type { Room } from './room.ts'
import type { Swept } from './swept.ts'

export interface Inside {
  readonly tables: Tables<Schema>
  readonly blobs: BlobStore
  readonly limits: Limits
  readonly live: Live
  readonly swept: Swept
  readonly room: Room
  /** Jobs for files that came in; null for none. */
  readonly bridge: () => Bridge | null
  readonly newId: () => string
  /** For tests: called between any two steps, and may end the process. */
  readonly fault: (point: FaultPoint) => void | Promise<void>
  /** Hears of faults on our side, which callers are told nothing of. */
  readonly onError: (error: unknown, what: string) => void
}
