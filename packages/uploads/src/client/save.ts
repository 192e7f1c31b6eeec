/** The bytes of a file onto the disk: under another name, hashed on the way, flushed, and given its name only when they are what was promised. */
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { ask, chunksOf } from './ask.ts'
import { systemCodeOf } from './client-error.ts'
import type { Listed } from './listing.ts'
import type { Settings } from './options.ts'
import { flushFolder, partNameOf } from './place.ts'

/** What came is not what was listed. */
export class Differs extends Error {}

/** Something else has its name. */
export class NameTaken extends Error {}

const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

export async function save(
  settings: Pick<Settings, 'line' | 'folder' | 'silenceMs' | 'fault'>,
  listed: Listed,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const { line, folder, silenceMs: timeoutMs, fault } = settings
  const part = path.join(folder, partNameOf(listed.id, randomBytes(8).toString('hex')))
  try {
    await ask(line, `/uploads/${listed.id}/content`, { timeoutMs, signal }, async (response, alive) => {
      const handle = await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
      try {
        await fault('pull:opened')
        await write(handle, listed, chunksOf(response, alive), () => fault('pull:half'))
        await fault('pull:written')
        await handle.sync()
      } finally {
        await handle.close()
      }
    })
    await fault('pull:flushed')
    await mustBeFree(file)
    await rename(part, file)
    await fault('pull:renamed')
    await flushFolder(folder)
    await fault('pull:kept')
  } catch (error) {
    await rm(part, { force: true }).catch(() => {})
    throw error
  }
}

async function write(
  handle: FileHandle,
  { size, sha256 }: Listed,
  chunks: AsyncIterable<Uint8Array>,
  onFirst: () => void | Promise<void>,
): Promise<void> {
  const hash = createHash('sha256')
  let written = 0
  for await (const chunk of chunks) {
    if (written + chunk.length > size)
      throw new Differs(`it has more than the ${size} bytes it was listed with`)
    const isFirst = written === 0
    hash.update(chunk)
    await handle.writeFile(chunk)
    written += chunk.length
    if (isFirst) await onFirst()
  }
  if (written !== size) throw new Differs(`it has ${written} bytes, and was listed with ${size}`)
  const actual = hash.digest('hex')
  if (actual !== sha256) throw new Differs(`it has the SHA-256 ${actual}, and was listed with ${sha256}`)
}

async function mustBeFree(file: string): Promise<void> {
  try {
    await lstat(file)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return
    throw error
  }
  throw new NameTaken()
}

/** Whether the file is there with what was listed, something else is, or nothing. No link is followed. */
export async function lookAt(file: string, { size, sha256 }: Listed): Promise<'right' | 'other' | 'none'> {
  let handle: FileHandle
  try {
    // Whatever it is: opening it must not wait.
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return 'none'
    return 'other'
  }
  try {
    const stat = await handle.stat()
    if (!stat.isFile() || stat.size !== size) return 'other'
    const hash = createHash('sha256')
    for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array)
    return hash.digest('hex') === sha256 ? 'right' : 'other'
  } finally {
    await handle.close()
  }
}
