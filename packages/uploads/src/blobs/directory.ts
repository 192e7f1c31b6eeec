/**
 * Blobs as files in a folder: `ab/<upload>/<n>`, where `ab` is the end of the upload id. A blob is written
 * under a temporary name, flushed and renamed, and its folders are flushed. So a blob under its final name is
 * complete, even after a power cut.
 */
import { open, opendir, rename, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { flushFolder, ifMissing, makeFolder, systemCodeOf, withFile } from '../files.ts'
import { invalid } from '../invalid.ts'
import { type BlobStore, BlobMissing, partsOf, UPLOAD } from './blob-store.ts'
import { claimFolder } from './marker.ts'
import { reserveIn } from './reserve.ts'

const READ_BYTES = 64 * 1_024

export function directoryBlobs(given: string, options?: undefined): BlobStore {
  if (typeof given !== 'string' || given === '')
    throw invalid('folder', given, 'must be a path', 'Pass the folder for the files')
  if (options !== undefined) throw invalid('options', options, 'are not supported', 'Pass only the folder')
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
      await makeFolder(folder, root)
      await withFile(part, 'wx', async (handle) => {
        for await (const chunk of bytes) {
          signal.throwIfAborted()
          await handle.writeFile(chunk)
        }
        signal.throwIfAborted()
        await handle.sync()
      })
      await rename(part, file)
      await flushFolder(folder)
    },
    async read(id, { start, end }) {
      const { file } = pathOf(id)
      const handle = await open(file, 'r').catch((error: unknown) => {
        throw systemCodeOf(error) === 'ENOENT' ? new BlobMissing(id) : error
      })
      return handle.createReadStream({ start, end, highWaterMark: READ_BYTES })
    },
    async delete(id) {
      const { folder, file, part } = pathOf(id)
      const removed = await Promise.all([file, part].map((one) => rm(one).then(() => true, ifMissing(false))))
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

/**
 * Streams the names, because those of a large folder may not fit into memory. A missing folder has no names.
 */
async function* namesIn(folder: string): AsyncGenerator<string, void, undefined> {
  try {
    for await (const { name } of await opendir(folder)) yield name
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT' && systemCodeOf(error) !== 'ENOTDIR') throw error
  }
}
