/** The scene of a nemesis: the processes, the store, and the means to inject faults. */
import type { Mill } from 'jobmill'
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts'
import type { Outage, Place } from '../cluster/places.ts'
import type { Progress } from '../cluster/progress.ts'
import type { Stillness } from '../cluster/verdict/repeats.ts'
import type { Sent } from '../cluster/stream.ts'
import type { Workers } from '../cluster/workers.ts'
import type { Chance } from '../simulate/chance.ts'
import type { ClockFile } from './clock-file.ts'
import type { Proxy } from './proxy.ts'
import type { SmallDisk } from './disks/small-disk.ts'

export type StoreName = Place['store']

export interface Scene {
  readonly store: StoreName
  readonly place: Place
  readonly workers: Workers
  readonly mill: Mill
  readonly sent: readonly Sent[]
  readonly chance: Chance
  readonly progressLog: Progress
  readonly signal: AbortSignal
  /** Times when the store or a process was unreachable: leases may be lost then. */
  readonly outages: Outage[]
  readonly stillnesses: Stillness[]
  /** Null on SQLite. */
  readonly postgres: Servers | null
  /** The disk of the store; null if none could be created. */
  readonly disk: SmallDisk | null
  /** The wall clock of the workers; null if it cannot be moved. */
  readonly clock: ClockFile | null
}

export interface Servers {
  /** The server that accepts writes. */
  primary: PostgresServer
  /** The replica; null after its promotion. */
  standby: PostgresServer | null
  /** All processes connect through it. */
  readonly proxy: Proxy
}

/** The effect of a nemesis. */
export interface Strike {
  /** How often it actually struck. */
  readonly injected: number
  /** When the fault ended and recovery could begin. */
  readonly overAt: number
  /** Runs after recovery. */
  readonly afterwards?: () => Promise<void>
  /** Why it could not strike. */
  readonly why?: string
}

export interface Nemesis {
  readonly name: string
  readonly stores: readonly StoreName[]
  /** The recovery limit from the end of the fault. */
  readonly recoversWithinMs: number
  readonly strike: (scene: Scene) => Promise<Strike>
}

/** The limit of P4 for a lost process, by the default lease; and our limit for a database that is back. */
export const LOST_PROCESS_MS = 15_000
export const BACK_MS = 5_000

export function cannot(why: string, now: number): Strike {
  return { injected: 0, overAt: now, why }
}
