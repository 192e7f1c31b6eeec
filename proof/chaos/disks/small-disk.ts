/** A small tmpfs disk that can be filled. Needs permission to mount. */
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** Uses up all free space. */
  readonly fill: () => void
  readonly free: () => void
  readonly unmount: () => void
}

const PIECE = Buffer.alloc(65_536, 1)

/** Null if it cannot be mounted. */
export function smallDisk(folder: string, megabytes: number): SmallDisk | null {
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return null
  }
  // Servers do not run as root.
  chmodSync(folder, 0o777)
  const ballast = path.join(folder, 'ballast')
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (let size = PIECE.length; size >= 1; size = Math.floor(size / 2))
          writeAll(file, PIECE.subarray(0, size))
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    unmount: () => void execFileSync('umount', ['-l', folder]),
  }
}

function writeAll(file: number, piece: Buffer): void {
  try {
    while (writeSync(file, piece) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
