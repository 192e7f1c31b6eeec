/**
 * The size of the write-ahead log. It begins anew when nobody reads in it any more, so a large one has a reader that stays: the system says which
 * process that is. The files are never opened for it: closing one would give up every lock that this process has on it.
 */
import { readFileSync, statSync } from 'node:fs'
import { shortened, sizeText } from '../../store/amounts.ts'
import { type Diagnostic, warning, well } from '../../store/admin.ts'
import { LOG_LIMIT_BYTES } from '../connection.ts'

/** Processes at work bring it back when it is over the limit; at twice of it they cannot. */
const MOST_BYTES = 2 * LOG_LIMIT_BYTES

/** The bytes of the shared memory that readers lock, one for each place in the log that somebody reads from. */
const READING = { first: 123, last: 127 }

export function log(path: string): Diagnostic {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= MOST_BYTES) return well('log', `the log has ${sizeText(bytes)}`)
  const readers = readersOf(`${path}-shm`)
  const what = `the log has grown to ${sizeText(bytes)}`
  if (readers.length === 0) {
    return warning(
      'log',
      `${what}, and is read from end to end by whoever opens the file`,
      'Start a process of jobmill, which brings it back; if it stays, look for a program that reads for long',
    )
  }
  const names = readers.map((pid) => `process ${pid} (${commandOf(pid)})`).join(', ')
  return warning(
    'log',
    `${what}: it cannot begin anew while ${names} reads in it`,
    `End the transaction that stays open there, or the process: kill ${readers.join(' ')}`,
  )
}

/** By their locks, where the system tells. */
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
  return shortened(textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')) || 'unknown'
}

/** Empty when it is not to be had. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
