/**
 * Whether the write-ahead log still has what SQLite believes to be in it. SQLite keeps an index of the log in the -shm file, and never looks whether the log was truncated or
 * overwritten: it appends behind the hole, and the database is malformed later. So the last frame in the log is compared with the index, and the log's header too. Both
 * have salts that change whenever the log starts over, and the checksum of the last frame covers all frames before it.
 *
 * The files are read through the descriptors that SQLite has open. Closing any other descriptor of the -shm file would drop the POSIX locks that SQLite holds for this process.
 */
import { fstatSync, ftruncateSync, lstatSync, readdirSync, readFileSync, readSync, writeSync } from 'node:fs'

export interface LogCheck {
  /** True when frames are missing from the log. */
  readonly isCut: () => boolean
  /** True when the index lost bytes. It has its size again then, because SQLite has it mapped into memory, and is built again. */
  readonly isIndexCut: () => boolean
  /** Makes SQLite build the index again, from the transactions that are complete in the log: in all processes. */
  readonly discardIndex: () => void
  /** Empties a log that was deleted, so that closing it copies nothing into the database file. */
  readonly discardLog: () => void
  /** After this store closed its files: whether another connection still uses the index that they had. Whoever opens the database meanwhile would share it. */
  readonly isIndexHeld: () => boolean
}

/** On systems that do not list the descriptors of a process. */
const NO_CHECK: LogCheck = {
  isCut: () => false,
  isIndexCut: () => false,
  discardIndex: () => {},
  discardLog: () => {},
  isIndexHeld: () => false,
}

// WalIndexHdr, twice: see walformat.html of SQLite.
const COPY_BYTES = 48
const INDEX_BYTES = 2 * COPY_BYTES
const AT_IS_INIT = 12
const AT_PAGE_SIZE = 14
const AT_FRAMES = 16
const AT_CHECKSUM = 24
const AT_SALT = 32
const SALT_BYTES = 8
const HEADER_BYTES = 32
const AT_HEADER_SALT = 16
const FRAME_HEADER_BYTES = 24
const AT_FRAME_SALT = 8
const AT_FRAME_CHECKSUM = 16
/** How often other processes may change the index while it is compared. */
const MOST_TRIES = 20

export function logCheck(database: string): LogCheck {
  const log = descriptorOf(`${database}-wal`)
  const index = descriptorOf(`${database}-shm`)
  if (log === null || index === null) return NO_CHECK
  const [one, other] = [Buffer.alloc(INDEX_BYTES), Buffer.alloc(INDEX_BYTES)]
  const header = Buffer.alloc(HEADER_BYTES)
  let frame = Buffer.alloc(0)
  let indexSize = index.size()

  function isComplete(): boolean {
    const frames = numberAt(one, AT_FRAMES)
    // SQLite starts over when all frames are copied, unless a reader keeps it from that: then it appends behind them.
    if (frames === 0) return true
    const pageSize = one.readUInt16LE(AT_PAGE_SIZE)
    // 1 stands for the largest one, which does not fit.
    const frameBytes = FRAME_HEADER_BYTES + (pageSize === 1 ? 65_536 : pageSize)
    if (frame.length !== frameBytes) frame = Buffer.alloc(frameBytes)
    return (
      log?.read(header, 0) === true &&
      log.read(frame, HEADER_BYTES + (frames - 1) * frameBytes) &&
      isSalt(header, AT_HEADER_SALT) &&
      isSalt(frame, AT_FRAME_SALT) &&
      [0, 4].every(
        (word) => frame.readUInt32BE(AT_FRAME_CHECKSUM + word) === numberAt(one, AT_CHECKSUM + word),
      )
    )
  }

  const isSalt = (bytes: Buffer, at: number): boolean =>
    bytes.compare(one, AT_SALT, AT_SALT + SALT_BYTES, at, at + SALT_BYTES) === 0

  function discardIndex(): void {
    if (index?.isOpen() === true) writeSync(index.fd, Buffer.alloc(2 * COPY_BYTES), 0, 2 * COPY_BYTES, 0)
  }

  return {
    isCut() {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        // SQLite rebuilds an index that it cannot read.
        if (!index.read(one, 0) || !isReadable(one) || isComplete()) return false
        // A transaction of another process, or a new descriptor under an old number, is no damage.
        if (index.read(other, 0) && other.equals(one) && log.isOpen() && index.isOpen()) return true
      }
      return false
    },
    isIndexCut() {
      const size = index.size()
      const isCut = size < indexSize && index.isOpen()
      if (!isCut) indexSize = size
      else {
        ftruncateSync(index.fd, indexSize)
        discardIndex()
      }
      return isCut
    },
    discardIndex,
    discardLog() {
      if (log.isOpen()) ftruncateSync(log.fd, 0)
      discardIndex()
    },
    // Another process can share it only by its path. SQLite keeps a lock on it for as long.
    isIndexHeld: () =>
      openDescriptors().some((fd) => index.isSame(fd)) ||
      (index.isAt(`${database}-shm`) && isLocked(index.inode)),
  }
}

/** Both copies are the same, unless a process is writing them or died while doing so. */
function isReadable(index: Buffer): boolean {
  return index[AT_IS_INIT] === 1 && index.compare(index, 0, COPY_BYTES, COPY_BYTES, 2 * COPY_BYTES) === 0
}

/** The index is in the byte order of the machine; all that Node.js runs on with this driver are little-endian. */
function numberAt(index: Buffer, at: number): number {
  return index.readUInt32LE(at)
}

interface Descriptor {
  readonly fd: number
  /** Fills the buffer from this place of the file; false when there is not enough. */
  read(into: Buffer, at: number): boolean
  size(): number
  /** Whether it still is the file that it was opened for. */
  isOpen(): boolean
  /** Whether another descriptor is of the same file. */
  isSame(other: number): boolean
  isAt(path: string): boolean
  readonly inode: bigint
}

/** The one under which this process has the file open; null when it has not, or the system does not tell. */
function descriptorOf(path: string): Descriptor | null {
  const file = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  if (file === undefined) return null
  const isFile = (fd: number): boolean => {
    try {
      const found = fstatSync(fd, { bigint: true })
      return found.ino === file.ino && found.dev === file.dev
    } catch {
      return false
    }
  }
  const fd = openDescriptors().find(isFile)
  if (fd === undefined) return null
  return {
    fd,
    read(into, at) {
      try {
        return readSync(fd, into, 0, into.length, at) === into.length
      } catch {
        return false
      }
    },
    size: () => fstatSync(fd).size,
    isOpen: () => isFile(fd),
    isSame: isFile,
    // The number of a deleted file may be given to a new one.
    isAt(other) {
      const found = lstatSync(other, { throwIfNoEntry: false, bigint: true })
      return found?.ino === file.ino && found.birthtimeNs === file.birthtimeNs
    },
    inode: file.ino,
  }
}

/** By any process. Where the system does not list locks, nobody can tell: then it counts as locked, because a shared index would damage the database. */
function isLocked(inode: bigint): boolean {
  try {
    return readFileSync('/proc/locks', 'utf8').includes(`:${inode} `)
  } catch {
    return true
  }
}

function openDescriptors(): number[] {
  try {
    return readdirSync('/dev/fd').map(Number)
  } catch {
    return []
  }
}
