/**
 * The checks of a file: its integrity and free space, its write-ahead log, and everything on which durability
 * depends: the journal, its sync mode, the file system, and the SQLite version.
 */
import { statfsSync } from 'node:fs'
import { shorten, sizeText } from '../../store/admin/amounts.ts'
import { broken, type Diagnostic, ok, warning } from '../../store/admin/admin.ts'
import { LOG_LIMIT_BYTES } from '../connection/connection.ts'
import { versionProblem } from '../connection/driver.ts'
import { pragma, type SqliteHandle, sqliteVersion } from '../connection/handle.ts'
import { filePaths } from '../file/file-paths.ts'
import { locksOn, textOf } from '../file/old-logs.ts'
import { fileSize } from '../file/same-file.ts'
import { databaseBytes, type StoreSettings } from '../live.ts'

/** The check reads every page and blocks the event loop: about a second for this size. */
const CHECKED_BYTES = 512 * 2 ** 20
const MOST_FAULTS = 5

/** VACUUM is worthwhile if at least this much, and at least this share of the file, is free. */
const FREE_BYTES = 16 * 2 ** 20
const FREE_SHARE = 0.5

export function integrity(handle: SqliteHandle): Diagnostic {
  const { all } = sizesOf(handle)
  if (all > CHECKED_BYTES) {
    const command = 'PRAGMA quick_check'
    return ok('integrity', `not checked (${sizeText(all)}): run ${command} at a quiet time`)
  }
  const rows = handle.prepare(`PRAGMA quick_check(${MOST_FAULTS})`).all() as { quick_check: string }[]
  const faults = rows.map(({ quick_check: text }) => text).filter((text) => text !== 'ok')
  if (faults.length === 0) return ok('integrity', `no damage found in ${sizeText(all)}`)
  return broken(
    'integrity',
    `the file is damaged: ${shorten(faults.join('; '), 200)}`,
    'Stop all programs that use it, keep a copy, then restore a backup or run .recover in sqlite3',
  )
}

export function freePages(handle: SqliteHandle): Diagnostic {
  const { all, free } = sizesOf(handle)
  const text = `${sizeText(free)} of ${sizeText(all)} are free`
  if (free < FREE_BYTES || free < all * FREE_SHARE) return ok('free space', text)
  return warning(
    'free space',
    `${text}: the file was larger once and does not shrink on its own`,
    'Run VACUUM while no process uses the file; it needs up to twice the size of the file on disk. New jobs also reuse the space',
  )
}

export function sizesOf(handle: SqliteHandle): { all: number; free: number } {
  const free = pragma<number>(handle, 'freelist_count') * pragma<number>(handle, 'page_size')
  return { all: databaseBytes(handle), free }
}

/** Running processes shrink the log above the limit; at twice the limit they evidently cannot. */
const MOST_BYTES = 2 * LOG_LIMIT_BYTES

/** The bytes of the shared memory that readers lock, one per read mark in the log. */
const READING = { first: 123, last: 127 }

/**
 * The log restarts when it has no readers, so a large log has a reader that stays. The operating system lists
 * the process of that reader. The check never opens the database files: closing one would drop every lock
 * that this process holds on it.
 */
export function log(path: string): Diagnostic {
  const paths = filePaths(path)
  const bytes = fileSize(paths.log) ?? 0
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
  const locks = locksOn(path).filter(
    ({ mode, first }) => mode === 'READ' && first >= READING.first && first <= READING.last,
  )
  return [...new Set(locks.map(({ pid }) => pid))]
}

function commandOf(pid: number): string {
  return shorten(textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')) || 'unknown'
}

export function journal(handle: SqliteHandle): Diagnostic {
  const mode = pragma<string>(handle, 'journal_mode')
  if (mode === 'wal') return ok('journal', 'the journal mode is WAL')
  return warning(
    'journal',
    `the journal mode is ${mode}, in which readers and writers block each other`,
    'Start a Jobmill process or run PRAGMA journal_mode = WAL, and find the program that changed it',
  )
}

/**
 * The sync mode belongs to each connection, not to the file: Jobmill's connections follow the `durability`
 * option.
 */
export function durability({ durability: chosen }: StoreSettings): Diagnostic {
  if (chosen === 'full')
    return ok('durability', 'every commit is synced to disk before it is acknowledged (synchronous = FULL)')
  return warning(
    'durability',
    'durability is relaxed (synchronous = NORMAL): the last commits before a power cut may be lost',
    'Omit the durability option unless you accept that',
  )
}

/** File system types, as Linux numbers them. */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [0x69_69, 'NFS'],
  [0x51_7b, 'SMB'],
  [0xff_53_4d_42, 'SMB'],
  [0xfe_53_4d_42, 'SMB'],
  [0x00_c3_64_00, 'Ceph'],
  [0x0b_d0_0b_d0, 'Lustre'],
  [0x53_46_41_4f, 'AFS'],
])
/** These may be backed by another machine, or by a local disk. */
const UNCERTAIN: ReadonlyMap<number, string> = new Map([
  [0x65_73_55_46, 'FUSE'],
  [0x01_02_19_97, '9p'],
  [0x78_6f_42_56, 'a VirtualBox shared folder'],
])

/** `type` is for tests, which cannot mount a file system. */
export function fileSystem(path: string, type: number | null = fileSystemType(path)): Diagnostic {
  // The number is signed on some systems.
  const number = (type ?? 0) >>> 0
  const [network, uncertain] = [NETWORKS.get(number), UNCERTAIN.get(number)]
  const fix = 'Move it to a local disk, or use PostgreSQL to share jobs between machines'
  if (network !== undefined) {
    const message = `the file is on ${network}, where locks and shared memory are unreliable: it may be corrupted`
    return broken('file system', message, fix)
  }
  if (uncertain === undefined) return ok('file system', 'not on a known network file system')
  const message = `the file is on ${uncertain}: if its storage is on another machine, the file may be corrupted`
  return warning('file system', message, fix)
}

/** Null where it cannot be determined. */
function fileSystemType(path: string): number | null {
  return process.platform === 'linux' ? statfsSync(path).type : null
}

export function version(handle: SqliteHandle): Diagnostic {
  const text = sqliteVersion(handle)
  const problem = versionProblem(text)
  if (problem === null) return ok('server', `SQLite ${text}`)
  return broken('server', problem, 'Install better-sqlite3 13 or newer')
}
