/**
 * The two databases of the proof and their faults: a PostgreSQL server is killed and restarted on the same
 * data, a SQLite file is locked by another process.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FullStore } from 'jobmill'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { nowMs } from './clock.ts'

/** The location of the store, in a form that can be sent to another process. */
export interface Place {
  readonly store: 'postgres' | 'sqlite'
  readonly at: string
  /** SQLite only: a killed process loses nothing that was committed, only a power cut does. */
  readonly isRelaxed?: true
}

/** Imports only the driver that is needed. */
export async function storeAt({ store, at, isRelaxed }: Place): Promise<FullStore<never>> {
  if (store === 'sqlite') {
    const { sqlite } = await import('jobmill/sqlite')
    return sqlite(at, { durability: isRelaxed === true ? 'relaxed' : 'full' })
  }
  return (await import('jobmill/postgres')).postgres(at)
}

/** A period in which the database accepted no writes. */
export interface Outage {
  readonly from: number
  readonly to: number
}

export interface Database {
  readonly place: Place
  readonly name: string
  /** Describes the fault and its end. */
  readonly begins: string
  readonly ends: string
  readonly trouble: (began: () => void) => Promise<Outage>
  /** Safe at any time, even during the fault. */
  readonly close: () => Promise<void>
}

const AWAY_MS = 1_000

export async function postgresServer(): Promise<Database> {
  const server = await startPostgres({ binaries: 'current' })
  let restarting: Promise<void> = Promise.resolve()
  return {
    place: { store: 'postgres', at: server.url },
    name: `PostgreSQL on port ${server.port}`,
    begins: `the database is killed, for ${AWAY_MS / 1_000} s`,
    ends: 'the database is ready again, on the same data',
    async trouble(began) {
      const from = nowMs()
      began()
      restarting = server
        .kill()
        .then(() => sleep(AWAY_MS))
        .then(() => server.restart())
      await restarting
      return { from, to: nowMs() }
    },
    async close() {
      await restarting.catch(() => {})
      await server.stop()
    },
  }
}

const LOCKED_MS = 3_000

export function sqliteFile(folder: string): Database {
  const file = path.join(folder, 'jobs.db')
  return {
    place: { store: 'sqlite', at: file },
    name: 'one SQLite file',
    begins: `another process takes the write lock of the file for ${LOCKED_MS / 1_000} s`,
    ends: 'the lock is released',
    async trouble(began) {
      const locker = fork(path.join(import.meta.dirname, 'lock.ts'), [file, String(LOCKED_MS)], {
        execArgv: ['--disable-warning=ExperimentalWarning'],
      })
      const ended = once(locker, 'exit')
      const early = ended.then(() => Promise.reject(new Error('the process that takes the lock ended early')))
      await Promise.race([once(locker, 'message'), early])
      const from = nowMs()
      began()
      await Promise.race([once(locker, 'message'), early])
      const to = nowMs()
      await ended
      return { from, to }
    },
    // The folder belongs to the caller, and the locking process exits when its channel closes.
    close: () => Promise.resolve(),
  }
}
