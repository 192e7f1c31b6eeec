/**
 * Writes a file to disk: under a temporary name, hashed and flushed, and renamed only if size and hash match
 * the list.
 */
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { flushFolder, NO_LINKS, systemCodeOf, withFile } from '../../files.ts'
import { ask, chunksOf } from '../http/ask.ts'
import { ClientError } from '../http/client-error.ts'
import type { Listed } from '../http/listing.ts'
import type { Settings } from '../options.ts'
import { partNameOf } from './place.ts'

/** The content differs from the listed size or hash. */
export class Differs extends Error {}

/** Another file has this name. The message is the name. */
export class NameTaken extends Error {}

const { O_RDWR, O_CREAT, O_EXCL, O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** A partial file of an earlier attempt. */
export interface Half {
  /** Null for none. */
  half: string | null
}

/** The timeout restarts only after this many bytes, so that a very slow connection does not occupy a slot. */
const LEAST_BYTES = 64 * 1_024

export async function save(
  settings: Pick<Settings, 'line' | 'folder' | 'silenceMs' | 'fault'>,
  listed: Listed,
  file: string,
  memory: Half,
  signal: AbortSignal,
): Promise<void> {
  const { folder, fault } = settings
  const part = memory.half ?? path.join(folder, partNameOf(listed.id, randomBytes(8).toString('hex')))
  try {
    await fetchInto(part, settings, listed, memory.half !== null, signal)
    await fault('pull:flushed')
    await giveName(part, file, listed.id)
    memory.half = null
    await fault('pull:renamed')
    await flushFolder(folder)
    await fault('pull:kept')
  } catch (error) {
    // The connection broke: the bytes so far are valid, and the next attempt resumes after them.
    const isBroken = error instanceof ClientError && error.code === 'UNREACHABLE' && !signal.aborted
    memory.half = isBroken && (await sizeOf(part)) > 0 ? part : null
    if (memory.half === null) await rm(part, { force: true }).catch(() => {})
    throw error
  }
}

async function fetchInto(
  part: string,
  { line, silenceMs: timeoutMs, fault }: Pick<Settings, 'line' | 'silenceMs' | 'fault'>,
  listed: Listed,
  isMore: boolean,
  signal: AbortSignal,
): Promise<void> {
  const from = isMore ? await sizeOf(part) : 0
  const headers = from > 0 ? { range: `bytes=${from}-`, 'if-range': `"${listed.sha256}"` } : {}
  const question = { timeoutMs, signal, headers }
  await ask(line, `/uploads/${listed.id}/content`, question, async (response, alive) => {
    const flags = O_RDWR | O_NOFOLLOW | (from > 0 ? 0 : O_CREAT | O_EXCL)
    await withFile(part, flags, async (handle) => {
      await fault('pull:opened')
      // A response with the whole file ignored the range.
      const isRest = response.headers.get('content-range')?.startsWith(`bytes ${from}-`) === true
      if (!isRest) await handle.truncate(0)
      const chunks = chunksOf(response, paced(alive))
      await write(handle, listed, isRest ? from : 0, chunks, () => fault('pull:half'))
      await fault('pull:written')
      await handle.sync()
    })
  })
}

function paced(alive: () => void): (bytes: number) => void {
  let came = 0
  return (bytes) => {
    came += bytes
    if (came < LEAST_BYTES) return
    came = 0
    alive()
  }
}

async function sizeOf(part: string): Promise<number> {
  return lstat(part).then(
    ({ size }) => size,
    () => 0,
  )
}

async function write(
  handle: FileHandle,
  { size, sha256 }: Listed,
  from: number,
  chunks: AsyncIterable<Uint8Array>,
  onFirst: () => void | Promise<void>,
): Promise<void> {
  const hash = createHash('sha256')
  let written = from
  if (from > 0)
    for await (const chunk of handle.createReadStream({ autoClose: false, start: 0, end: from - 1 }))
      hash.update(chunk as Uint8Array)
  let isFirst = true
  for await (const chunk of chunks) {
    if (written + chunk.length > size) throw new Differs(`the file has more bytes than listed (${size})`)
    hash.update(chunk)
    for (let at = 0; at < chunk.length;)
      at += (await handle.write(chunk, at, chunk.length - at, written + at)).bytesWritten
    written += chunk.length
    if (isFirst) await onFirst()
    isFirst = false
  }
  if (written !== size) throw new Differs(`the file has ${written} bytes, but was listed with ${size}`)
  const actual = hash.digest('hex')
  if (actual !== sha256)
    throw new Differs(`the file has the SHA-256 ${actual}, but was listed with ${sha256}`)
}

/** Never overwrites a file: creating a link, and creating a claim, are atomic. */
async function giveName(part: string, file: string, id: string): Promise<void> {
  try {
    await link(part, file)
  } catch (error) {
    const code = systemCodeOf(error)
    // After a leftover claim, the file system reports EEXIST before it reports that links are unsupported.
    if (code !== 'EEXIST' && !NO_LINKS.has(code)) throw error
    if (!(await claim(file, id))) throw new NameTaken(path.basename(file))
    return rename(part, file)
  }
  await rm(part, { force: true })
}

/** Compares the existing file with the listed one. Follows no links. */
export async function lookAt(
  file: string,
  { id, size, sha256 }: Listed,
): Promise<'right' | 'other' | 'none'> {
  // A leftover of a crash before the file got its name.
  if (await isClaim(file, id)) return 'none'
  // Non-blocking, because it may be a pipe.
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(systemCodeOf)
  if (typeof handle === 'string') return handle === 'ENOENT' ? 'none' : 'other'
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

/**
 * A claim reserves a file name on file systems without hard links: it is created atomically, and the file
 * then replaces it. It names its file id, so that a leftover of a crash is recognized and nothing else is
 * overwritten.
 */
const claimOf = (id: string): Buffer => Buffer.from(`jobmill-uploads reserves this name for the file ${id}\n`)

/** Returns false if the name is taken by anything but a claim of this file id. */
async function claim(file: string, id: string): Promise<boolean> {
  try {
    await writeFile(file, claimOf(id), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return isClaim(file, id)
  }
}

/** Whether the file is a claim of this file id. */
async function isClaim(file: string, id: string): Promise<boolean> {
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null)
  if (handle === null) return false
  try {
    const text = claimOf(id)
    const stat = await handle.stat()
    return stat.isFile() && stat.size === text.length && (await handle.readFile()).equals(text)
  } finally {
    await handle.close()
  }
}
