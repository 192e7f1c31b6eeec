/** Durable files and folders, for the blob store and the client. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** The code of a system error, such as ENOENT; empty for none. */
export function systemCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** The codes of file systems without hard links. */
export const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Creates a file together with its flushed content in one step, so that its content is always known. Returns
 * false if it exists. Without hard links, the file is empty for a moment.
 */
export async function createWhole(file: string, text: string): Promise<boolean> {
  const aside = `${file}.${randomUUID()}`
  const write = (at: string): Promise<void> => writeFile(at, text, { flag: 'wx', mode: 0o600, flush: true })
  try {
    await write(aside)
    await link(aside, file).catch((error: unknown) => {
      if (NO_LINKS.has(systemCodeOf(error))) return write(file)
      throw error
    })
    return true
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return false
  } finally {
    await rm(aside, { force: true })
  }
}

/** For `catch`: continues with the value if the path does not exist. */
export function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error))) return value
    throw error
  }
}

/** Opens a file for one action, and closes it. */
export async function withFile<R>(
  file: string,
  flags: string | number,
  act: (handle: FileHandle) => Promise<R>,
): Promise<R> {
  const handle = await open(file, flags, 0o600)
  try {
    return await act(handle)
  } finally {
    await handle.close()
  }
}

/** A folder entry survives a power cut only after the folder is flushed. */
export function flushFolder(folder: string): Promise<void> {
  return withFile(folder, 'r', (handle) => handle.sync())
}

/**
 * Creates the folder and its missing parents. All of them are durable when it resolves. `root`: a parent that
 * exists, below which another process may be creating folders at the same time.
 */
export async function makeFolder(folder: string, root?: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const highest = root ?? path.dirname(path.resolve(first))
  for (let at = path.dirname(path.resolve(folder)); at.length >= highest.length; at = path.dirname(at)) {
    await flushFolder(at)
    if (at === highest) return
  }
}
