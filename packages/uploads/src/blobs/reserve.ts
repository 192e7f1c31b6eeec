/**
 * Reserves disk space for a database on the same disk as the blobs, with a file of random bytes. On a full
 * disk, even the sweep could not write. A process that finds the database full deletes the reserve, and
 * uploads are refused until it can be restored.
 */
import { randomFillSync } from 'node:crypto'
import { rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { ifMissing, systemCodeOf, withFile } from '../files.ts'

export type Reserve = Readonly<ReturnType<typeof reserveIn>>

const NAME = '.reserve'
const PIECE_BYTES = 1_024 * 1_024
/**
 * Twice the size to which the WAL of a SQLite file grows before it restarts, because the file itself grows
 * too.
 */
const PIECES = 8
const RESERVE_BYTES = PIECES * PIECE_BYTES

/** `free`: how many bytes are available. */
export function reserveIn(folder: string, free = freeIn) {
  const file = path.join(folder, NAME)

  async function isThere(): Promise<boolean> {
    // Opening the folder reports what is wrong with it.
    const found = await stat(file).catch(ifMissing(null))
    // A process may have died while writing it.
    return found !== null && found.size >= RESERVE_BYTES
  }

  /** Whether the reserve exists. Restores it if the disk has space for twice its size. */
  async function keep(): Promise<boolean> {
    if (await isThere()) return true
    if ((await free(folder)) < 2 * RESERVE_BYTES) return false
    try {
      await write(file)
      return true
    } catch (error) {
      await rm(file, { force: true })
      if (systemCodeOf(error) === 'ENOSPC' || systemCodeOf(error) === 'EDQUOT') return false
      throw error
    }
  }

  /** Deletes the reserve. Returns whether it existed. */
  async function giveUp(): Promise<boolean> {
    if (!(await isThere())) return false
    await rm(file, { force: true })
    return true
  }

  /** Called before the database is opened: deletes the reserve if there is no space to start. */
  async function makeWay(): Promise<void> {
    if ((await isThere()) && (await free(folder)) < RESERVE_BYTES) await giveUp()
  }

  return { makeWay, keep, giveUp }
}

/** Random bytes, because a file system could compress or skip anything else. */
async function write(file: string): Promise<void> {
  const piece = randomFillSync(Buffer.allocUnsafe(PIECE_BYTES))
  await withFile(file, 'w', async (handle) => {
    for (let n = 0; n < PIECES; n += 1) await handle.writeFile(piece)
  })
}

/** Space for this user. A file system that does not report it counts as having enough. */
async function freeIn(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? Infinity : bavail * bsize
}
