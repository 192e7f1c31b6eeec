/** What a nemesis finds: the processes at work, the store under them, and the ways to make both suffer. */
import type { Mill } from 'jobmill'
import type { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Outage, Place } from '../cluster/places.ts'
import type { Progress } from '../cluster/progress.ts'
import type { Stillness } from '../cluster/repeats.ts'
import type { Sent } from '../cluster/stream.ts'
import type { Workers } from '../cluster/workers.ts'
import type { Chance } from '../simulate/chance.ts'
import type { ClockFile } from './clock-file.ts'
import type { Proxy } from './proxy.ts'
import type { SmallDisk } from './small-disk.ts'

export type StoreName = Place['store']

export interface Scene {
  readonly store: StoreName
  readonly place: Place
  readonly workers: Workers
  readonly mill: Mill
  readonly sent: readonly Sent[]
  readonly chance: Chance
  readonly shown: Progress
  readonly signal: AbortSignal
  /** While the store, or a process, was out of reach: leases may be lost then. */
  readonly outages: Outage[]
  readonly stillnesses: Stillness[]
  /** Null on SQLite. */
  readonly postgres: Servers | null
  /** What the store's files are on; null where none could be made. */
  readonly disk: SmallDisk | null
  /** The wall clock of the workers; null where it cannot be moved. */
  readonly clock: ClockFile | null
}

export interface Servers {
  /** The one that takes writes. */
  primary: PostgresServer
  /** Follows it; null after it took its place. */
  standby: PostgresServer | null
  /** Every process goes through it. */
  readonly proxy: Proxy
}

/** What a nemesis did. */
export interface Strike {
  /** How often it really struck. */
  readonly injected: number
  /** When what it did was over, and recovery could begin. */
  readonly overAt: number
  /** What is to be done once all is as before. */
  readonly afterwards?: () => Promise<void>
  /** Why it could not strike, when it could not. */
  readonly why?: string
}

export interface Nemesis {
  readonly name: string
  readonly stores: readonly StoreName[]
  /** Within which everything must be as before, from the end of the trouble on. */
  readonly recoversWithinMs: number
  readonly strike: (scene: Scene) => Promise<Strike>
}

/** What P4 promises for a process that is gone, by the default lease; and what we hold for a database that is back. */
export const LOST_PROCESS_MS = 15_000
export const BACK_MS = 5_000

export function cannot(why: string, now: number): Strike {
  return { injected: 0, overAt: now, why }
}
