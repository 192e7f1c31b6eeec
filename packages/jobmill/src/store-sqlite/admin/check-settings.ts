/** What durability rests on: the log, how it is synced, the disk, and SQLite itself. */
import { statfsSync } from 'node:fs'
import { type Diagnostic, broken, warning, well } from '../../store/admin.ts'
import { prepared, type SqliteHandle } from '../handle.ts'
import type { StoreSettings } from '../live.ts'
import { versionProblem } from '../sqlite-version.ts'

export function journal(handle: SqliteHandle): Diagnostic {
  const { journal_mode: mode } = prepared(handle)('PRAGMA journal_mode').get() as { journal_mode: string }
  if (mode === 'wal') return well('journal', 'it has a write-ahead log')
  return warning(
    'journal',
    `its journal mode is ${mode}, in which whoever reads and whoever writes wait for each other`,
    'Start a process of jobmill, or run PRAGMA journal_mode = WAL, and look for what sets another one',
  )
}

/** How it is synced is no property of the file but of each who opens it: ours do as the options say. */
export function durability({ durability: chosen }: StoreSettings): Diagnostic {
  if (chosen === 'full')
    return well('durability', 'every commit is on the disk before it is acknowledged (synchronous = FULL)')
  return warning(
    'durability',
    'durability is relaxed (synchronous = NORMAL): the last commits before a power cut may be lost',
    'Leave the option durability out, unless that may happen',
  )
}

/** As Linux numbers them. */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [0x69_69, 'NFS'],
  [0x51_7b, 'SMB'],
  [0xff_53_4d_42, 'SMB'],
  [0xfe_53_4d_42, 'SMB'],
  [0x00_c3_64_00, 'Ceph'],
  [0x0b_d0_0b_d0, 'Lustre'],
  [0x53_46_41_4f, 'AFS'],
])
/** Behind these there may be another machine, or the disk of this one. */
const UNCERTAIN: ReadonlyMap<number, string> = new Map([
  [0x65_73_55_46, 'FUSE'],
  [0x01_02_19_97, '9p'],
  [0x78_6f_42_56, 'a shared folder of VirtualBox'],
])

/** `type` is for tests: no test can mount a disk. */
export function fileSystem(path: string, type: number | null = fileSystemType(path)): Diagnostic {
  // Signed on some systems.
  const number = (type ?? 0) >>> 0
  const [network, uncertain] = [NETWORKS.get(number), UNCERTAIN.get(number)]
  const fix = 'Move it to a local disk; several machines share a PostgreSQL server instead'
  if (network !== undefined) {
    const says = `it is on ${network}, where locks and shared memory do not hold: the file will be damaged`
    return broken('file system', says, fix)
  }
  if (uncertain === undefined) return well('file system', 'nothing says that it is on a network')
  const says = `it is on ${uncertain}: if there is another machine behind it, the file will be damaged`
  return warning('file system', says, fix)
}

/** Null where it cannot be told. */
function fileSystemType(path: string): number | null {
  return process.platform === 'linux' ? statfsSync(path).type : null
}

export function version(handle: SqliteHandle): Diagnostic {
  const { version: text } = prepared(handle)('SELECT sqlite_version() AS version').get() as {
    version: string
  }
  const problem = versionProblem(text)
  if (problem === null) return well('server', `SQLite ${text}`)
  return broken('server', problem, 'Install better-sqlite3 13 or newer')
}
