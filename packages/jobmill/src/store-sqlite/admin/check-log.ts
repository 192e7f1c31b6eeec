/**
 * Checks the size of the write-ahead log. The log restarts when it has no readers, so a large log has a
 * reader that stays. The operating system lists the process of that reader. The check never opens the
 * database files: closing one would drop every lock that this process holds on it.
 */
import { readFileSync, statSync } from 'node:fs'
import { shorten, sizeText } from '../../store/admin/amounts.ts'
import { type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import { LOG_LIMIT_BYTES } from '../connection/connection.ts'
import { filePaths } from '../file/file-paths.ts'

/** Running processes shrink the log above the limit; at twice the limit they evidently cannot. */
const MOST_BYTES = 2 * LOG_LIMIT_BYTES

/** The bytes of the shared memory that readers lock, one per read mark in the log. */
const READING = { first: 123, last: 127 }

export function log(path: string): Diagnostic {
  const paths = filePaths(path)
  const bytes = statSync(paths.log, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= MOST_BYTES) return ok('log', `the write-ahead log has ${sizeText(bytes)}`)
  const readers = readersOf(paths.index)
  const what = `the write-ahead log has grown to ${sizeText(bytes)}`
  if (readers.length === 0) {
    return warning(
      'log',
      `${what}, and every process that opens the file reads all of it`,
      'Start a Jobmill process, which shrinks it; if it stays large, look for a program with a long read transaction',
    )
  }
  const names = readers.map((pid) => `process ${pid} (${commandOf(pid)})`).join(' or ')
  return warning(
    'log',
    `${what}: it cannot restart while ${names} reads from it`,
    `End the open read transaction there, or stop the process: kill ${readers.join(' ')}`,
  )
}

/** Finds readers by their locks, where the operating system lists them. */
function readersOf(path: string): number[] {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino
  const pids = textOf('/proc/locks')
    .split('\n')
    .flatMap((line) => {
      const [, pid, at, from] = / READ +(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) /.exec(line) ?? []
      const isReading = Number(from) >= READING.first && Number(from) <= READING.last
      return inode !== undefined && Number(at) === inode && isReading ? [Number(pid)] : []
    })
  return [...new Set(pids)]
}

function commandOf(pid: number): string {
  return shorten(textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')) || 'unknown'
}

/** Empty when the file cannot be read. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
