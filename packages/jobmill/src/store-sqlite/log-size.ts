/**
 * The write-ahead log begins anew once everything in it is in the file, and nobody reads there any more. A reader that stays for long, a
 * backup or a forgotten transaction, lets it grow to any size. Whoever commits first after that would stand still while all of it is
 * copied; and with nothing to commit, it would stay as it is. So the heartbeat looks at its size, and a thread brings it back.
 */
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type Connection, LOG_LIMIT_BYTES } from './connection.ts'
import { prepared } from './handle.ts'

/** SQLite's own default: a commit that finds this many pages in the log copies them. */
const COPY_AT_PAGES = 1_000

export interface LogKeeper {
  /** Begins to shrink the log when it has become too large. */
  look(): void
  /** Leaves it as it is. */
  close(): void
}

export function logKeeper(connection: Connection, path: string): LogKeeper {
  let thread: Worker | undefined
  let isAble = true
  const size = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0

  function copyInCommits(isOn: boolean): void {
    prepared(connection)(`PRAGMA wal_autocheckpoint = ${isOn ? COPY_AT_PAGES : 0}`).get()
  }

  /** Its end is the end of the large log. When it cannot run, commits do what they always did. */
  function ended(error?: unknown): void {
    if (error instanceof Error) isAble = false
    if (thread === undefined) return
    thread = undefined
    copyInCommits(true)
  }

  return {
    look() {
      if (!isAble || thread !== undefined || size() <= LOG_LIMIT_BYTES) return
      thread = new Worker(program(), { workerData: path, execArgv: [], env: {} })
      thread.unref()
      copyInCommits(false)
      thread.once('error', ended)
      thread.once('exit', () => ended())
    },
    close() {
      const last = thread
      thread = undefined
      void last?.terminate()
    },
  }
}

/** Beside this file, as source or compiled. */
function program(): URL {
  const { url } = import.meta
  return new URL(`./empty-log${url.slice(url.lastIndexOf('.'))}`, url)
}
