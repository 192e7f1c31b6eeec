/**
 * Wake-ups. In this process a commit rings at once. Other processes are heard by asking the driver, every few
 * milliseconds and only while somebody waits, whether the file was changed by another connection; if it was, the
 * `rung` numbers tell which queues got something to do.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import type { Doorbell } from '../store/store.ts'
import { waiters } from '../store/waiters.ts'
import type { Connection } from './connection.ts'
import { prepared } from './handle.ts'
import type { Look } from './work.ts'

/**
 * A probe costs a few microseconds, but to wake up for it costs the process far more: 5 ms for ever came to 2 % of a
 * core on a small machine. So it is 5 ms while other processes write, and 20 ms once they have been quiet.
 */
const PROBE_BUSY_MS = 5
const PROBE_QUIET_MS = 20
const QUIET_AFTER_MS = 1_000

const VERSION = `PRAGMA data_version`

// At most a row per queue, by the primary key of both tables; or one queue by its name.
const RUNG = `
  SELECT q.name, c.rung FROM jobmill_queue AS q CROSS JOIN jobmill_count AS c ON c.queue_id = q.id AND c.state = 1`
const RUNG_OF = `${RUNG} WHERE q.name = ?`

export interface Rung {
  readonly name: string
  readonly rung: number
}

/** What the bell stood at in the snapshot that a claim saw. */
export function rungOf({ sql }: Look, queues: readonly string[]): Rung[] {
  return queues.flatMap((queue) => sql(RUNG_OF).all(queue) as Rung[])
}

export interface SqliteDoorbell extends Doorbell {
  /** A claim has taken all it could at this point: no need to wake anybody for what came before. */
  hear(rung: readonly Rung[]): void
  /** Ends every wait. */
  close(): void
}

export function createDoorbell(connection: Connection, platform: Platform): SqliteDoorbell {
  const sql = prepared(connection)
  const heard = new Map<string, number>()
  let version: number | undefined
  let changedAt = platform.monotonic()
  let probe: Timer | undefined
  const local = waiters(platform, (waiting) => {
    if (waiting === 0) {
      probe?.cancel()
      probe = undefined
    } else if (probe === undefined) lookLater()
  })

  /** Remembers how far each bell got, and returns the queues whose bell rang since the last time. */
  function hear(rows: readonly Rung[]): string[] {
    const risen = rows.filter(({ name, rung }) => rung > (heard.get(name) ?? 0))
    for (const { name, rung } of risen) heard.set(name, rung)
    return risen.map(({ name }) => name)
  }

  function listen(): string[] {
    try {
      return hear(sql(RUNG).all() as Rung[])
    } catch {
      // Wake-ups only shorten a wait; whatever is wrong, the next verb will say.
      return []
    }
  }

  function look(): void {
    probe = undefined
    try {
      const { data_version: now } = sql(VERSION).get() as { data_version: number }
      if (now !== version) {
        version = now
        changedAt = platform.monotonic()
        local.wake(listen())
      }
    } catch {
      // As above.
    }
    if (local.size > 0) lookLater()
  }

  function lookLater(): void {
    const quiet = platform.monotonic() - changedAt >= QUIET_AFTER_MS
    probe = platform.timer(quiet ? PROBE_QUIET_MS : PROBE_BUSY_MS, look, { unref: true })
  }

  return {
    ring: (queues) => local.wake(queues),
    hear,
    wait(options) {
      // What was rung while nobody waited counts too: a job may have come between an empty claim and this wait.
      if (listen().some((queue) => options.queues.includes(queue))) return Promise.resolve(true)
      return local.wait(options)
    },
    close: () => local.end(),
  }
}
