/**
 * Blobs as files in a folder: `ab/<upload>/<n>`, where `ab` is the end of the upload id. A blob is written
 * under a temporary name, flushed and renamed, and its folders are flushed. So a blob under its final name is
 * complete, even after a power cut.
 */
import { mkdir, open, opendir, rename, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { flushFolder, makeFolder } from '../flush.ts'
import { JobmillError, quote } from '../inbox/words.ts'
import { type BlobStore, BlobMissing, partsOf, UPLOAD } from './blob-store.ts'
import { codeOf } from './code-of.ts'
import { claimFolder } from './marker.ts'
import { reserveIn } from './reserve.ts'

const READ_BYTES = 64 * 1_024

export function directoryBlobs(given: string): BlobStore {
  if (typeof given !== 'string' || given === '')
    throw new JobmillError('OPTION_INVALID', 'must be a path', {
      field: 'folder',
      value: quote(given),
      fix: 'Pass the folder for the files',
    })
  // Resolved once, so that a process that changes its working directory keeps its folder.
  const root = path.resolve(given)
  const folderOf = (upload: string): string => path.join(root, upload.slice(-2), upload)
  const pathOf = (id: string): { folder: string; file: string; part: string } => {
    const [upload, n] = partsOf(id)
    const folder = folderOf(upload)
    return { folder, file: path.join(folder, n), part: path.join(folder, `${n}.part`) }
  }
  return {
    reserve: reserveIn(root),
    name: `folder ${given}`,
    async open(inbox) {
      await makeFolder(root)
      await claimFolder(root, inbox)
    },
    async write(id, bytes, signal) {
      const { folder, file, part } = pathOf(id)
      await makeInside(root, folder)
      const handle = await open(part, 'wx', 0o600)
      try {
        for await (const chunk of bytes) {
          signal.throwIfAborted()
          await writeAll(handle, chunk)
        }
        signal.throwIfAborted()
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(part, file)
      await flushFolder(folder)
    },
    async read(id, { start, end }) {
      const { file } = pathOf(id)
      const handle = await open(file, 'r').catch((error: unknown) => {
        throw codeOf(error) === 'ENOENT' ? new BlobMissing(id) : error
      })
      return handle.createReadStream({ start, end, highWaterMark: READ_BYTES })
    },
    async delete(id) {
      const { folder, file, part } = pathOf(id)
      const removed = await Promise.all([file, part].map(remove))
      // Fails if other blobs are still in the folder.
      await rmdir(folder).catch(() => {})
      return removed.includes(true)
    },
    async *uploads() {
      for await (const ending of namesIn(root))
        if (/^[0-9a-f]{2}$/.test(ending))
          for await (const upload of namesIn(path.join(root, ending))) if (UPLOAD.test(upload)) yield upload
    },
  }
}

async function makeInside(root: string, folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  // A new folder is durable only when its parent is flushed.
  for (let at = path.dirname(folder); at.length >= root.length; at = path.dirname(at)) {
    await flushFolder(at)
    if (at === path.dirname(at) || at === root) return
  }
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  let written = 0
  while (written < chunk.length)
    written += (await handle.write(chunk, written, chunk.length - written)).bytesWritten
}

/** Streams the names, because a folder may exceed memory. A folder that is gone has no names. */
async function* namesIn(folder: string): AsyncGenerator<string, void, undefined> {
  try {
    for await (const { name } of await opendir(folder)) yield name
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
  }
}

async function remove(file: string): Promise<boolean> {
  try {
    await rm(file)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
