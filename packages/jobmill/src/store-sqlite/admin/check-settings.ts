/** Checks what durability depends on: the journal, its sync mode, the file system, and the SQLite version. */
import { statfsSync } from 'node:fs'
import { type Diagnostic, broken, warning, ok } from '../../store/admin/admin.ts'
import { statementsOf, type SqliteHandle } from '../connection/handle.ts'
import type { StoreSettings } from '../live.ts'
import { versionProblem } from '../connection/sqlite-version.ts'

export function journal(handle: SqliteHandle): Diagnostic {
  const { journal_mode: mode } = statementsOf(handle)('PRAGMA journal_mode').get() as { journal_mode: string }
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
  [0x78_6f_42_56, 'a shared folder of VirtualBox'],
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
  const message = `the file is on ${uncertain}: if another machine is behind it, the file may be corrupted`
  return warning('file system', message, fix)
}

/** Null where it cannot be determined. */
function fileSystemType(path: string): number | null {
  return process.platform === 'linux' ? statfsSync(path).type : null
}

export function version(handle: SqliteHandle): Diagnostic {
  const { version: text } = statementsOf(handle)('SELECT sqlite_version() AS version').get() as {
    version: string
  }
  const problem = versionProblem(text)
  if (problem === null) return ok('server', `SQLite ${text}`)
  return broken('server', problem, 'Install better-sqlite3 13 or newer')
}
