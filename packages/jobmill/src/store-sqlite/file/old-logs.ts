/**
 * Finds processes that have the database open with other log files than those at its path. SQLite
 * synchronizes connections through the -shm file. After it or the -wal file is deleted, connections on the
 * old and on the new files do not see each other and overwrite each other's transactions. So no process
 * writes through new files until every connection to the old ones is closed.
 * The system must list locks and descriptors, as Linux does, and only processes of the same PID namespace are
 * found.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { FilePaths } from './file-paths.ts'

/** The id of such a process, which may be this one. Null when there is none, or the system lists no locks. */
export function userOfOldLogs(paths: FilePaths): number | null {
  const inode = inodeOf(paths.database)
  if (inode === undefined) return null
  return lockers(inode).find((pid) => usesOldLogs(pid, paths)) ?? null
}

/** Whether this system lists the locks of a database that this process has open. */
export function listsLocks({ database }: FilePaths): boolean {
  return lockers(inodeOf(database) ?? -1n).includes(process.pid)
}

/**
 * Whether this process, which has the database open, uses the logs at its path. True where the system does
 * not list descriptors, or lists them without the database.
 */
export function usesCurrentLogs(paths: FilePaths): boolean {
  return descriptorsOf(process.pid) === null || !usesOldLogs(process.pid, paths)
}

/** SQLite locks the database file as long as a connection is open. */
function lockers(inode: bigint): number[] {
  // For example "3: POSIX  ADVISORY  READ 4711 fe:00:131087 1073741826 1073742335".
  const locks = lockList().matchAll(new RegExp(`(\\d+) [0-9a-f]+:[0-9a-f]+:${inode} `, 'g'))
  return [...new Set([...locks].map(([, pid]) => Number(pid)))]
}

function usesOldLogs(pid: number, { database, log, index }: FilePaths): boolean {
  const open = descriptorsOf(pid)
  // The process has ended, or belongs to another user. In the second case, it uses the current logs if it
  // holds a lock on the current index.
  if (open === null) return isRunning(pid) && !lockers(inodeOf(index) ?? -1n).includes(pid)
  const ids = new Set(open.map((descriptor) => idOf(descriptor)))
  // If it does not have the database open, it locks a file with the same inode number in another file system.
  if (!ids.has(idOf(database))) return false
  return ![log, index].every((name) => ids.has(idOf(name) ?? ''))
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

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { throwIfNoEntry: false, bigint: true })?.ino
}

function idOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}

function lockList(): string {
  try {
    return readFileSync('/proc/locks', 'utf8')
  } catch {
    return ''
  }
}
