/** Faults in how the SQLite store detects external changes of its files. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const DIAGNOSE = 'packages/jobmill/test/admin/diagnose-sqlite.test.ts'
const BULK = 'packages/jobmill/test/sqlite/bulk.test.ts'
const DELETED = 'packages/jobmill/test/sqlite/logs-deleted.test.ts'
const TABLES = 'packages/tables/test/changed-file.test.ts'
const LINKS = 'packages/jobmill/test/sqlite/links.test.ts'
const OPEN = 'packages/jobmill/test/sqlite/open.test.ts'
const REPLACED = 'packages/jobmill/test/sqlite/replaced-while-idle.test.ts'
const TRANSACTIONS = 'packages/jobmill/test/sqlite/transactions.test.ts'

export const FILES: readonly TestedMutant[] = [
  {
    name: 'sqlite: a backup is opened with the log of the file that it replaced',
    file: 'store-sqlite/connection/connection.ts',
    find: 'if (withOtherFile !== null) throw',
    replace: 'if (withOtherFile === -1) throw',
    test: { file: REPLACED, name: 'D6 P1 a store that opens the backup loses no acknowledged job to a call' },
  },
  {
    name: 'sqlite: writes continue on a file that was replaced',
    file: 'store-sqlite/file/same-file.ts',
    find: 'if (isInMemory || (found !== undefined && isSame)) return null',
    replace: 'if (isInMemory || found !== undefined || isSame) return null',
    test: { file: OPEN, name: 'D3 P1 a backup is moved into place, under a process that only enqueues' },
  },
  {
    name: 'sqlite: an idle process keeps a replaced file open',
    file: 'store-sqlite/file/reopen.ts',
    find: 'if (retiredFor === null && live.files.isReplaced()) release()',
    replace: '',
    test: { file: REPLACED, name: 'D6 P1 a store that opens the backup loses no acknowledged job to a call' },
  },
  {
    name: 'sqlite: a transaction on a file that was replaced is accepted',
    file: 'store-sqlite/file/same-lock.ts',
    find: 'canLock(own) || isLockedElsewhere(path)',
    replace: 'canLock(own) && own.open === false',
    test: { file: TRANSACTIONS, name: 'D3 BEGIN on a file that was replaced before the store opened' },
  },
  {
    name: 'sqlite: a transaction on a file that was replaced is accepted while a process writes',
    file: 'store-sqlite/file/same-lock.ts',
    find: 'canLock(own) || isLockedElsewhere(path)',
    replace: 'canLock(own)',
    test: { file: TRANSACTIONS, name: 'D3 BEGIN on a file that was replaced before the store opened' },
  },
  {
    name: 'sqlite: writes continue on a truncated write-ahead log',
    file: 'store-sqlite/file/same-file.ts',
    find: "return check?.isCut() === true ? 'cut' : null",
    replace: 'return null',
    test: { file: OPEN, name: 'H3 the -wal file is truncated to nothing' },
  },
  {
    name: 'sqlite: writes continue on a write-ahead log with a hole',
    file: 'store-sqlite/file/log-check.ts',
    find: 'isSalt(header, AT_HEADER_SALT) &&',
    replace: '',
    test: { file: OPEN, name: 'H3 the -wal file is truncated, and' },
  },
  {
    name: 'sqlite: the contents of an older log are copied into the database file',
    file: 'store-sqlite/file/reopen.ts',
    find: "if (change === 'cut') live.files.discardIndex()",
    replace: '',
    test: { file: OPEN, name: 'H3 a copy of the -wal file from before' },
  },
  {
    name: 'sqlite: tokens are issued twice after a restore while the clock is behind',
    file: 'store-sqlite/file/reopen.ts',
    find: '      markLoss(connection)\n',
    replace: '',
    test: { file: OPEN, name: 'D2 P2 a restored backup while the clock is behind' },
  },
  {
    name: 'sqlite: tokens are issued twice after a backup is restored',
    file: 'store-sqlite/connection/counter.ts',
    find: 'now * 1_000 - 1',
    replace: 'now * 0',
    test: { file: OPEN, name: 'D2 P2 a backup restored through SQLite' },
  },
  {
    name: 'sqlite: the log of another process is deleted with the old log',
    file: 'store-sqlite/file/reopen.ts',
    find: 'if (fileSize(log) === undefined) return close()',
    replace: 'if (fileSize(log) !== -1) return close()',
    test: {
      file: DELETED,
      name: 'before the next call, and is killed',
    },
  },
  {
    name: 'sqlite: a deleted log is closed before everything in it is copied',
    file: 'store-sqlite/file/reopen.ts',
    find: "if (busy !== 0) throw fileChanged(path, 'held')",
    replace: '',
    test: { file: DELETED, name: 'both, while another program is reading' },
  },
  {
    name: 'sqlite: new logs are used while another process has the old ones',
    file: 'store-sqlite/connection/connection.ts',
    find: 'if (withOldLogs !== null) throw',
    replace: 'if (withOldLogs === -1) throw',
    test: { file: DELETED, name: 'shm, while another process is idle' },
  },
  {
    name: 'sqlite: empty new logs discard the old ones',
    file: 'store-sqlite/file/same-file.ts',
    find: 'return found.size > 0n',
    replace: 'return true',
    test: { file: DELETED, name: 'empty files are put in their place' },
  },
  {
    name: 'sqlite: a new log next to the old index is not noticed',
    file: 'store-sqlite/file/same-file.ts',
    find: 'return found.size > 0n',
    replace: 'return false',
    test: { file: DELETED, name: 'before the next call, and stays: what it wrote stays' },
  },
  {
    name: 'sqlite: logs that were replaced while they were opened are used',
    file: 'store-sqlite/file/same-file.ts',
    find: 'isCurrent: isInMemory || usesCurrentLogs(paths),',
    replace: 'isCurrent: isInMemory || usesCurrentLogs(paths) || paths.log.length > 0,',
    test: { file: DELETED, name: 'replaced while SQLite opened it' },
  },
  {
    name: 'sqlite: a transaction on a replaced file is accepted',
    file: 'store-sqlite/tx.ts',
    find: 'historyOf(sql) !== historyOf(statementsOf(own)) || !isSameFile(handle, own)',
    replace: 'historyOf(sql) < 0 && isSameFile(handle, own)',
    test: { file: DELETED, name: 'D3 P10 a user transaction' },
  },
  {
    name: 'sqlite: a call may hold the write lock for longer than a lease',
    file: 'store-sqlite/sqlite-store.ts',
    find: 'callLimitBytes: BOUNDS.sqliteCallBytes',
    replace: 'callLimitBytes: BOUNDS.callBytes',
    test: { file: BULK, name: 'D7 a call is bounded by 64 MiB' },
  },
  {
    name: 'the size of a call is counted in characters',
    file: 'job/enqueue/new-job.ts',
    find: 'Buffer.byteLength(payload)',
    replace: 'payload.length',
    test: { file: 'packages/jobmill/test/unit/batcher.test.ts', name: 'D7 the size of a call' },
  },
  {
    name: 'sqlite: a file with several names is opened',
    file: 'store-sqlite/connection/connection.ts',
    find: 'found.nlink <= 1',
    replace: 'found.nlink >= 1',
    test: { file: OPEN, name: 'D3 a file with several names' },
  },
  {
    name: 'sqlite: the log is searched next to a symbolic link',
    file: 'store-sqlite/file/file-paths.ts',
    find: 'const database = realPath(path)',
    replace: 'const database = path || realPath(path)',
    test: { file: DIAGNOSE, name: 'D3 reports a log that a reader holds' },
  },
  {
    name: 'sqlite: a link that leads to a new file is not followed after the old file is deleted',
    file: 'store-sqlite/file/same-file.ts',
    find: "return fileSize(path) === undefined ? 'gone'",
    replace: "return fileSize(real) === undefined ? 'gone'",
    test: { file: LINKS, name: 'D3 the link leads to a copy, and only the old file' },
  },
  {
    name: 'sqlite: idle stores keep deleted logs open after a link was changed',
    file: 'store-sqlite/file/reopen.ts',
    find: 'leave()\n    leave = addSibling(path, release)\n',
    replace: '\n',
    test: { file: LINKS, name: 'D3 the logs of the copy are deleted' },
  },
  {
    name: 'sqlite: a transaction of another copy of SQLite is accepted',
    file: 'store-sqlite/tx.ts',
    find: 'if (!(tx instanceof loadSqlite()))',
    replace: 'if (!(tx instanceof Object))',
    test: { file: TRANSACTIONS, name: 'D10 a second copy of better-sqlite3' },
  },
  {
    name: 'sqlite: cached names are used on an older copy of the file',
    file: 'store-sqlite/work.ts',
    find: 'if (names === this.#names) return',
    replace: 'if (names === this.#names || this.names.kinds.ids.size > 0) return',
    test: { file: DELETED, name: 'an older copy of all three files' },
  },
  {
    name: 'sqlite: a call fails at once when the file that replaced the open one is locked',
    file: 'store-sqlite/file/reopen.ts',
    find: 'if (!isBusy(error)) throw storeError(error, path)',
    replace: 'throw storeError(error, path)',
    test: { file: OPEN, name: 'P16 the next calls wait until they can open it' },
  },
  {
    name: 'sqlite: tables stop forever after the file could not be opened',
    package: 'tables',
    file: 'sqlite-dialect.ts',
    find: ', createAdapter: () => new OwnTurns()',
    replace: '',
    test: { file: TABLES, name: 'D3 P16 calls are refused while the file is missing' },
  },
  {
    name: 'sqlite: tables commit to a replaced file',
    package: 'tables',
    file: 'sqlite-dialect.ts',
    find: 'if (isCommit || !handle.inTransaction) file.check()',
    replace: '',
    test: { file: TABLES, name: 'a backup is moved into place during a transaction' },
  },
  {
    name: 'sqlite: idle tables keep deleted logs open',
    file: 'store-sqlite/file/reopen.ts',
    find: 'releaseSiblings(path)\n',
    replace: '\n',
    test: { file: TABLES, name: 'the store continues while the tables are idle' },
  },
  {
    name: 'sqlite: tables accept a transaction on another file',
    file: 'store-sqlite/file/shared-file.ts',
    find: 'if (hasOtherHistory(handle, own) || !isSameFile(handle, own)) throw otherFile()',
    replace: 'if (hasOtherHistory(handle, own) && !isSameFile(handle, own)) otherFile()',
    test: { file: TABLES, name: 'D3 P10 a transaction on another file' },
  },
]
