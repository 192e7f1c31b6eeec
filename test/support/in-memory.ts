// Temporary files of tests, in memory where there is enough of it. SQLite waits for the disk with every transaction, and on a disk that others use as well
// the tests waited three times as long for it as they worked. What a power cut leaves is proven on a disk of its own: test/power-cut.test.ts.
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'jobmill-tests-'
const GIGABYTE = 1_000_000_000

/** A whole run has been seen to need 1 GB. */
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

/** For this process and all that it starts, unless TMPDIR says otherwise. It ends with the process; what a killed one has left goes with the next run. */
export function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !isRoomy()) return
  for (const name of readdirSync(MEMORY)) {
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length))))
      rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  // Also servers that run as another user put theirs there.
  mkdirSync(folder)
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
