/**
 * Checks whether the write-ahead log still contains what SQLite expects. SQLite indexes the log in the -shm
 * file and never notices that the log was truncated or overwritten: it continues to append at the old
 * position, which corrupts the database. So the last frame and the header of the log are compared with the
 * index. docs/internals/sqlite-store.md has the details. The files are read through the descriptors that
 * SQLite has open. Closing any other descriptor of the -shm file would drop the POSIX locks of this process.
 */
import { fstatSync, ftruncateSync, lstatSync, readdirSync, readSync, writeSync } from 'node:fs'
import type { FilePaths } from './file-paths.ts'

// WalIndexHdr, stored twice: see walformat.html of SQLite.
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
/** Never the number of a descriptor. */
const CLOSED = -1
/** How often other processes may change the index during a comparison. */
const MOST_TRIES = 20

/** Null on systems that do not list the descriptors of a process. */
export function logCheck(paths: FilePaths) {
  const log = descriptorOf(paths.log)
  const index = descriptorOf(paths.index)
  if (log === null || index === null) return null
  const [one, other] = [Buffer.alloc(INDEX_BYTES), Buffer.alloc(INDEX_BYTES)]
  const header = Buffer.alloc(HEADER_BYTES)
  let frame = Buffer.alloc(0)
  let indexSize = index.size()

  function isComplete(): boolean {
    // The index is in native byte order; all platforms that this driver supports are little-endian.
    const frames = one.readUInt32LE(AT_FRAMES)
    // SQLite restarts the log when all frames are copied. If a reader prevents that, it appends after them.
    if (frames === 0) return true
    const pageSize = one.readUInt16LE(AT_PAGE_SIZE)
    // 1 encodes the largest page size, which does not fit.
    const frameBytes = FRAME_HEADER_BYTES + (pageSize === 1 ? 65_536 : pageSize)
    if (frame.length !== frameBytes) frame = Buffer.alloc(frameBytes)
    return (
      log?.read(header, 0) === true &&
      log.read(frame, HEADER_BYTES + (frames - 1) * frameBytes) &&
      isSalt(header, AT_HEADER_SALT) &&
      isSalt(frame, AT_FRAME_SALT) &&
      [0, 4].every(
        (word) => frame.readUInt32BE(AT_FRAME_CHECKSUM + word) === one.readUInt32LE(AT_CHECKSUM + word),
      )
    )
  }

  const isSalt = (bytes: Buffer, at: number): boolean =>
    bytes.compare(one, AT_SALT, AT_SALT + SALT_BYTES, at, at + SALT_BYTES) === 0

  /** Makes SQLite rebuild the index from the complete transactions in the log, in all processes. */
  function discardIndex(): void {
    if (index?.find() === true) writeSync(index.fd, Buffer.alloc(2 * COPY_BYTES), 0, 2 * COPY_BYTES, 0)
  }

  return {
    /** True when frames are missing from the log. */
    isCut(): boolean {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        // SQLite rebuilds an index that it cannot read.
        if (!index.read(one, 0) || !isReadable(one) || isComplete()) return false
        // A transaction of another process, or a reused descriptor number, is not damage.
        if (index.read(other, 0) && other.equals(one) && log.isOpen() && index.isOpen()) return true
        // The descriptor may be that of another connection of this process, which has closed it.
        log.find()
        index.find()
      }
      return false
    },
    /**
     * True when the index was truncated. It is then restored to its size, because SQLite has it mapped into
     * memory, and rebuilt.
     */
    isIndexCut(): boolean {
      if (!index.find()) return false
      const size = index.size()
      const isCut = size < indexSize
      if (!isCut) indexSize = size
      else {
        ftruncateSync(index.fd, indexSize)
        discardIndex()
      }
      return isCut
    },
    discardIndex,
    /** Empties a deleted log, so that closing it copies nothing into the database file. */
    discardLog(): void {
      if (log.find()) ftruncateSync(log.fd, 0)
      discardIndex()
    },
  }
}

/** Both copies are equal unless a process is writing them, or crashed while writing. */
function isReadable(index: Buffer): boolean {
  return index[AT_IS_INIT] === 1 && index.compare(index, 0, COPY_BYTES, COPY_BYTES, 2 * COPY_BYTES) === 0
}

/**
 * The descriptor under which this process has the file open; null when there is none, or the system does not
 * list it.
 */
function descriptorOf(path: string) {
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
  const findOpen = (): number => openDescriptors().find(isFile) ?? CLOSED
  let fd = findOpen()
  if (fd === CLOSED) return null
  return {
    get fd(): number {
      return fd
    },
    /** Fills the buffer from this offset of the file; false when the file is too short. */
    read(into: Buffer, at: number): boolean {
      try {
        return readSync(fd, into, 0, into.length, at) === into.length
      } catch {
        return false
      }
    },
    size: () => fstatSync(fd).size,
    /** Whether the descriptor still refers to the same file. */
    isOpen: () => isFile(fd),
    /** The same, and finds another descriptor of the file if this one was closed. */
    find(): boolean {
      if (!isFile(fd)) fd = findOpen()
      return fd !== CLOSED
    },
  }
}

function openDescriptors(): number[] {
  try {
    return readdirSync('/dev/fd').map(Number)
  } catch {
    return []
  }
}
