/**
 * Room that is kept for the database, where it is on one disk with the blobs: a file of bytes that nobody needs. Files may take all the rest, and then not even the sweep
 * could write down which of them may go. Whoever finds the database full gives the reserve up, and nothing is taken in until it can be had again.
 */
import { randomFillSync } from 'node:crypto'
import { open, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from './code-of.ts'

export interface Reserve {
  /** Before the database is opened: gives it up where there would be no room to begin with. */
  readonly makeWay: () => Promise<void>
  /** Whether it is there; made anew when the disk has room for twice as much. */
  readonly keep: () => Promise<boolean>
  /** Whether there was any. */
  readonly giveUp: () => Promise<boolean>
}

const NAME = '.reserve'
const PIECE_BYTES = 1_024 * 1_024
/** Twice what the log of a SQLite file grows to before it begins anew: the file itself grows too. */
const PIECES = 8
const RESERVE_BYTES = PIECES * PIECE_BYTES

/** `free`: how many bytes can still be had. */
export function reserveIn(folder: string, free = freeIn): Reserve {
  const file = path.join(folder, NAME)

  async function isThere(): Promise<boolean> {
    const found = await stat(file).catch((error: unknown) => {
      // Whoever opens the folder says what is wrong with it.
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
      throw error
    })
    // A process may have died while it wrote.
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

/** Nothing that a file system could store in less: it has to take up its room. */
async function write(file: string): Promise<void> {
  const piece = randomFillSync(Buffer.allocUnsafe(PIECE_BYTES))
  const handle = await open(file, 'w', 0o600)
  try {
    for (let n = 0; n < PIECES; n += 1) await handle.writeFile(piece)
  } finally {
    await handle.close()
  }
}

/** For us; a file system that does not say has enough. */
async function freeIn(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? Infinity : bavail * bsize
}
