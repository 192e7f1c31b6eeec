/**
 * Shrinks the write-ahead log. The log restarts once all of it is copied into the file and it has no readers.
 * A long read, such as a backup or a forgotten transaction, lets it grow to any size, and the next commit
 * would block while copying it all. So the heartbeat checks its size, and a thread truncates it.
 */
import { Worker } from 'node:worker_threads'
import { type Connection, LOG_LIMIT_BYTES } from '../connection/connection.ts'
import { filePaths } from './file-paths.ts'
import { statementsOf } from '../connection/handle.ts'
import { fileSize } from './same-file.ts'

/** SQLite's default: a commit that finds this many pages in the log copies them. */
const COPY_AT_PAGES = 1_000

export function logKeeper(connection: Connection, path: string) {
  let thread: Worker | undefined
  let isAble = true
  const { log } = filePaths(path)

  function copyInCommits(isOn: boolean): void {
    statementsOf(connection)(`PRAGMA wal_autocheckpoint = ${isOn ? COPY_AT_PAGES : 0}`).get()
  }

  /** The thread ends when the log is small again. If the thread cannot run, commits copy pages as usual. */
  function onEnd(error?: unknown): void {
    if (error instanceof Error) isAble = false
    if (thread === undefined) return
    thread = undefined
    copyInCommits(true)
  }

  return {
    /** Starts to shrink the log if it is too large. */
    look(): void {
      if (!isAble || thread !== undefined || (fileSize(log) ?? 0) <= LOG_LIMIT_BYTES) return
      thread = new Worker(program(), { workerData: path, execArgv: [], env: {} })
      thread.unref()
      copyInCommits(false)
      thread.once('error', onEnd)
      thread.once('exit', () => onEnd())
    },
    /** Stops without finishing. */
    close(): void {
      const last = thread
      thread = undefined
      void last?.terminate()
    },
  }
}

/** The module of the thread is next to this file, as source or compiled. */
function program(): URL {
  const { url } = import.meta
  return new URL(`./empty-log${url.slice(url.lastIndexOf('.'))}`, url)
}
