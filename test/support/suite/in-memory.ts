// Keeps temporary files of tests in memory when there is enough of it. SQLite waits for the disk in every
// transaction, and on a busy disk tests waited three times as long as they worked.
// test/proof/power-cut.test.ts proves on a disk of its own what a power cut loses.
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'jobmill-tests-'
const GIGABYTE = 1_000_000_000

/** A whole run needs about 1.5 GB. */
function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem()) > 4 * GIGABYTE
  } catch {
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/**
 * Applies to this process and all that it starts, unless TMPDIR is set. The folder is removed when the
 * process ends; the next run removes the folder of a killed one.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !isRoomy()) return
  for (const name of readdirSync(MEMORY)) {
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length))))
      rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  // Servers that run as another user also write here.
  mkdirSync(folder)
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
