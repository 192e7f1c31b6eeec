/**
 * A disk whose power can be cut: a file system in a file. Unsynced writes are only in kernel memory, so a
 * copy of the file is what a power cut leaves. Needs permission to mount.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'

export interface DiskImage {
  /** The mount point. */
  readonly folder: string
  /** Simulates a power cut now: `read` gets the folder with the surviving files. */
  readonly cut: <T>(read: (folder: string) => T) => T
  readonly unmount: () => void
}

const run = (program: string, ...args: readonly string[]): void =>
  void execFileSync(program, args, { stdio: 'ignore' })

/** Null if it cannot be created or mounted. */
export function diskImage(folder: string, megabytes: number): DiskImage | null {
  const [image, copy] = ['disk.img', 'cut.img'].map((name) => path.join(folder, name)) as [string, string]
  const [mounted, after] = ['disk', 'cut'].map((name) => path.join(folder, name)) as [string, string]
  mkdirSync(mounted, { recursive: true })
  mkdirSync(after)
  try {
    run('truncate', '-s', `${megabytes}M`, image)
    run('mkfs.ext4', '-q', '-F', image)
    run('mount', '-o', 'loop', image, mounted)
  } catch {
    return null
  }
  return {
    folder: mounted,
    cut(read) {
      copyFileSync(image, copy)
      run('mount', '-o', 'loop', copy, after)
      try {
        return read(after)
      } finally {
        run('umount', after)
        rmSync(copy)
      }
    },
    unmount: () => run('umount', '-l', mounted),
  }
}
