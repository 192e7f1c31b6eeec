/**
 * Finds processes that have the database open with other log files than those at its path, and processes that
 * have these log files open with another database.
 * SQLite synchronizes connections through the -shm file. After it or the -wal file is deleted, connections on
 * the old and on the new files do not see each other and overwrite each other's transactions. So no process
 * writes through new files until every connection to the old ones is closed. When the database file is
 * replaced, SQLite would apply the log of the old file to the new one.
 * This needs a system that lists locks and descriptors, as Linux does, and finds only processes of the same
 * PID namespace.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileId, type FilePaths } from './file-paths.ts'

/** The id of such a process, which may be this one. Null when there is none, or the system lists no locks. */
export function userOfOldLogs(paths: FilePaths): number | null {
  return lockers(paths.database).find((pid) => usesOldLogs(pid, paths)) ?? null
}

/**
 * The id of a process, which may be this one, that uses the logs at the path for another database file. Null
 * when there is none, or the system lists no locks.
 */
export function userOfOtherFile(paths: FilePaths): number | null {
  return lockers(paths.index).find((pid) => usesOtherFile(pid, paths)) ?? null
}

/** Whether this system lists the locks of a database that this process has open. */
export function listsLocks({ database }: FilePaths): boolean {
  return lockers(database).includes(process.pid)
}

/**
 * Whether this process, which has the database open, uses the logs at its path. True where the system does
 * not list descriptors, or lists them without the database.
 */
export function usesCurrentLogs(paths: FilePaths): boolean {
  return descriptorsOf(process.pid) === null || !usesOldLogs(process.pid, paths)
}

/** The byte of the index that SQLite locks while it writes. */
const WRITE_BYTE = 120

/** Whether a connection of this process has the write lock of the database. */
export function locksForWriting({ index }: FilePaths): boolean {
  return locksOn(index).some(
    ({ mode, pid, first, last }) =>
      mode === 'WRITE' && pid === process.pid && first <= WRITE_BYTE && WRITE_BYTE <= last,
  )
}

/** The locks on the bytes of a file; none if the system lists no locks. */
export function locksOn(path: string) {
  const inode = statSync(path, { throwIfNoEntry: false, bigint: true })?.ino
  // For example "3: POSIX  ADVISORY  READ 4711 fe:00:131087 1073741826 1073742335".
  const line = new RegExp(`(READ|WRITE) +(\\d+) [0-9a-f]+:[0-9a-f]+:${inode} (\\d+) (\\w+)`, 'g')
  return [...textOf('/proc/locks').matchAll(line)].map(([, mode, pid, first, last]) => ({
    mode,
    pid: Number(pid),
    first: Number(first),
    last: Number(last),
  }))
}

/** SQLite locks the database file as long as a connection is open. */
function lockers(path: string): number[] {
  return [...new Set(locksOn(path).map(({ pid }) => pid))]
}

function usesOldLogs(pid: number, { database, log, index }: FilePaths): boolean {
  const open = descriptorsOf(pid)
  // The process has ended, or belongs to another user. In the second case, it uses the current logs if it
  // holds a lock on the current index.
  if (open === null) return isRunning(pid) && !lockers(index).includes(pid)
  const ids = new Set(open.map((descriptor) => fileId(descriptor)))
  // If it does not have the database open, it locks a file with the same inode number in another file system.
  if (!ids.has(fileId(database))) return false
  return ![log, index].every((name) => ids.has(fileId(name) ?? ''))
}

function usesOtherFile(pid: number, { database, index }: FilePaths): boolean {
  const open = descriptorsOf(pid)
  // The process has ended, or belongs to another user.
  if (open === null) return isRunning(pid) && !lockers(database).includes(pid)
  const ids = new Set(open.map((descriptor) => fileId(descriptor) ?? ''))
  // If it does not have the index open, it locks a file with the same inode number in another file system.
  return ids.has(fileId(index) ?? 'none') && !ids.has(fileId(database) ?? 'none')
}

/** Null when they cannot be read. */
function descriptorsOf(pid: number): string[] | null {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`)
  } catch {
    return null
  }
}

function isRunning(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined
}

/** Empty when the file cannot be read. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
