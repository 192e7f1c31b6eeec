/**
 * Every way in which a database file can change under a process that has it open, and how the store must
 * react.
 */
import {
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import Database from 'better-sqlite3'

export interface FileChange {
  readonly name: string
  /** `backup` is a copy of the database from before the last jobs. */
  readonly apply: (file: string, backup: string) => void | Promise<unknown>
  /**
   * reopens: the first call is refused, and the next ones write to the current file. refuses: every call is
   * refused, with this in its message. ignores: nothing relevant has changed, and no call is refused.
   */
  readonly expected: 'reopens' | 'ignores' | RegExp
  /** Whether the earlier jobs must still be in the file. */
  readonly keeps: boolean
}

const LOGS = ['-wal', '-shm']
const removeLogs = (file: string): void => LOGS.forEach((log) => rmSync(`${file}${log}`))

export const FILE_CHANGES: readonly FileChange[] = [
  {
    name: 'a backup is moved into place',
    apply: (file, backup) => renameSync(backup, file),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'a backup is moved into place and the logs are removed',
    apply: (file, backup) => (removeLogs(file), renameSync(backup, file)),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'the file is renamed and a backup is moved into place',
    apply: (file, backup) => (renameSync(file, `${file}.old`), renameSync(backup, file)),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'a hard link to a backup takes its place',
    apply: (file, backup) => (rmSync(file), linkSync(backup, file)),
    expected: /has several names/,
    keeps: false,
  },
  {
    name: 'a symbolic link to a backup takes its place',
    apply: (file, backup) => (rmSync(file), symlinkSync(backup, file)),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'the file is moved, and a symbolic link leads to it',
    apply: (file) => (renameSync(file, `${file}.moved`), symlinkSync(`${file}.moved`, file)),
    expected: 'reopens',
    keeps: true,
  },
  {
    name: 'the -wal file is removed',
    apply: (file) => rmSync(`${file}-wal`),
    expected: 'reopens',
    keeps: true,
  },
  {
    name: 'the -shm file is removed',
    apply: (file) => rmSync(`${file}-shm`),
    expected: 'reopens',
    keeps: true,
  },
  {
    name: 'H3 the -wal file is truncated to nothing',
    apply: (file) => truncateSync(`${file}-wal`),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'H3 the -wal file loses its last bytes',
    apply: (file) => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 100),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'H3 the -wal file is overwritten with zeros',
    apply: (file) => writeFileSync(`${file}-wal`, Buffer.alloc(statSync(`${file}-wal`).size)),
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'H3 the -wal file is truncated, and another program writes behind the hole',
    apply: (file) => {
      const other = new Database(file)
      other.exec('CREATE TABLE person (name TEXT)')
      truncateSync(`${file}-wal`)
      other.exec(`INSERT INTO person VALUES ('Ada')`)
      other.close()
    },
    expected: 'reopens',
    keeps: false,
  },
  {
    name: 'H3 an older copy of the -wal file is copied over it',
    apply: (file) => overwriteLog(file),
    expected: 'reopens',
    keeps: true,
  },
  {
    name: 'H3 a copy of the -wal file from before a checkpoint is copied over it',
    apply: (file) => overwriteLog(file, checkpoint),
    expected: 'reopens',
    keeps: true,
  },
  {
    name: 'H3 the -shm file is truncated to nothing',
    apply: (file) => truncateSync(`${file}-shm`),
    expected: 'reopens',
    keeps: true,
  },
  {
    name: 'H3 the -shm file is overwritten with zeros',
    apply: (file) => overwrite(`${file}-shm`, Buffer.alloc(32_768)),
    expected: 'ignores',
    keeps: true,
  },
  {
    name: 'H3 another program empties the log with a checkpoint',
    apply: checkpoint,
    expected: 'ignores',
    keeps: true,
  },
  { name: 'both logs are removed', apply: removeLogs, expected: 'reopens', keeps: true },
  {
    name: 'the file is renamed and comes back',
    apply: (file) => (renameSync(file, `${file}.away`), renameSync(`${file}.away`, file)),
    expected: 'ignores',
    keeps: true,
  },
  {
    name: 'another hard link to the file takes its place',
    apply: (file) => (linkSync(file, `${file}.link`), rmSync(file), renameSync(`${file}.link`, file)),
    expected: 'ignores',
    keeps: true,
  },
  {
    name: 'a backup is restored through SQLite',
    apply: async (file, backup) => restore(backup, file),
    expected: 'ignores',
    keeps: false,
  },
  { name: 'another program runs VACUUM', apply: vacuum, expected: 'ignores', keeps: true },
  {
    name: 'the file is deleted',
    apply: (file) => rmSync(file),
    expected: /no file at its path/,
    keeps: false,
  },
  {
    name: 'the file is renamed',
    apply: (file) => renameSync(file, `${file}.away`),
    expected: /no file at its path/,
    keeps: false,
  },
  {
    name: 'a directory takes its place',
    apply: (file) => (rmSync(file), mkdirSync(file)),
    expected: /no file at its path/,
    keeps: false,
  },
  {
    name: 'a link that leads nowhere takes its place',
    apply: (file) => (rmSync(file), symlinkSync(`${file}.nowhere`, file)),
    expected: /deleted or moved/,
    keeps: false,
  },
  {
    name: 'an empty file takes its place',
    apply: (file) => (rmSync(file), writeFileSync(file, '')),
    expected: /without Jobmill tables/,
    keeps: false,
  },
  {
    name: 'the database of another program takes its place',
    apply: (file) => (rmSync(file), new Database(file).exec('CREATE TABLE person (name TEXT)').close()),
    expected: /without Jobmill tables/,
    keeps: false,
  },
  {
    name: 'a text takes its place',
    apply: (file) => (
      rmSync(file),
      writeFileSync(file, 'a letter to Ada, long enough to be a page'.repeat(20))
    ),
    expected: /is not a SQLite database/,
    keeps: false,
  },
  {
    name: 'a database of a newer release takes its place',
    apply: (file, backup) => (newer(backup), renameSync(backup, file)),
    expected: /migration 99/,
    keeps: false,
  },
  {
    name: 'the file is truncated',
    apply: (file) => truncateSync(file),
    expected: /truncated or overwritten/,
    keeps: false,
  },
  {
    name: 'the file loses its second half',
    apply: (file) => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096),
    expected: /truncated or overwritten|damaged/,
    keeps: false,
  },
  {
    name: 'a text is copied over it',
    apply: (file) => (writeFileSync(`${file}.txt`, 'x'.repeat(5_000)), copyFileSync(`${file}.txt`, file)),
    expected: /truncated or overwritten|damaged|is not a SQLite database/,
    keeps: false,
  },
]

/** Keeps the inode, and the file is never empty. */
function overwrite(file: string, bytes: Buffer): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, bytes, 0, bytes.length, 0)
  closeSync(opened)
}

function checkpoint(file: string): void {
  const other = new Database(file)
  other.pragma('wal_checkpoint(TRUNCATE)')
  other.close()
}

/** Overwrites the log with a copy that lacks the last transaction. */
function overwriteLog(file: string, since: (file: string) => void = () => {}): void {
  const copy = readFileSync(`${file}-wal`)
  since(file)
  const other = new Database(file)
  other.exec('CREATE TABLE person (name TEXT)')
  other.close()
  writeFileSync(`${file}-wal`, copy)
}

async function restore(backup: string, file: string): Promise<void> {
  const source = new Database(backup)
  await source.backup(file)
  source.close()
}

function vacuum(file: string): void {
  const other = new Database(file)
  other.exec('CREATE TABLE ballast (text)')
  other.prepare('INSERT INTO ballast VALUES (?)').run('x'.repeat(1_000_000))
  other.pragma('wal_checkpoint(PASSIVE)')
  other.exec('DROP TABLE ballast; VACUUM')
  other.pragma('wal_checkpoint(PASSIVE)')
  other.close()
}

function newer(file: string): void {
  const other = new Database(file)
  other.exec(`INSERT INTO jobmill_migration VALUES (99, 'later', 'x', 0)`)
  other.close()
}
