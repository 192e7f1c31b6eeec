/**
 * Reserves disk space for a database on the same disk as the blobs, with a file of random bytes. On a full
 * disk, even the sweep could not write. A process that finds the database full deletes the reserve, and
 * uploads are refused until it can be restored.
 */
import { randomFillSync } from 'node:crypto'
import { open, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from './code-of.ts'

export interface Reserve {
  /** Called before the database is opened: deletes the reserve if there is no space to start. */
  readonly makeWay: () => Promise<void>
  /** Whether the reserve exists. Restores it if the disk has space for twice its size. */
  readonly keep: () => Promise<boolean>
  /** Deletes the reserve. Returns whether it existed. */
  readonly giveUp: () => Promise<boolean>
}

const NAME = '.reserve'
const PIECE_BYTES = 1_024 * 1_024
/**
 * Twice the size to which the WAL of a SQLite file grows before it restarts, because the file itself grows
 * too.
 */
const PIECES = 8
const RESERVE_BYTES = PIECES * PIECE_BYTES

/** `free`: how many bytes are available. */
export function reserveIn(folder: string, free = freeIn): Reserve {
  const file = path.join(folder, NAME)

  async function isThere(): Promise<boolean> {
    const found = await stat(file).catch((error: unknown) => {
      // Opening the folder reports what is wrong with it.
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
      throw error
    })
    // A process may have died while writing it.
    return found !== null && found.size >= RESERVE_BYTES
  }

  async function keep(): Promise<boolean> {
    if (await isThere()) return true
    if ((await free(folder)) < 2 * RESERVE_BYTES) return false
    try {
      await write(file)
      return true
    } catch (error) {
      await rm(file, { force: true })
      if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT') return false
      throw error
    }
  }

  async function giveUp(): Promise<boolean> {
    if (!(await isThere())) return false
    await rm(file, { force: true })
    return true
  }

  return {
    async makeWay() {
      if ((await isThere()) && (await free(folder)) < RESERVE_BYTES) await giveUp()
    },
    keep,
    giveUp,
  }
}

/** Random bytes, because a file system could compress or skip anything else. */
async function write(file: string): Promise<void> {
  const piece = randomFillSync(Buffer.allocUnsafe(PIECE_BYTES))
  const handle = await open(file, 'w', 0o600)
  try {
    for (let n = 0; n < PIECES; n += 1) await handle.writeFile(piece)
  } finally {
    await handle.close()
  }
}

/** Space for this user. A file system that does not report it counts as having enough. */
async function freeIn(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? Infinity : bavail * bsize
}
