/**
 * Reserves a file name on file systems without hard links: creates a claim file atomically, which the file
 * then replaces. The claim names its file id, so that a leftover of a crash is recognized and nothing else is
 * overwritten.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { systemCodeOf } from '../http/client-error.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

const textOf = (id: string): Buffer => Buffer.from(`jobmill-uploads keeps this name for the file ${id}\n`)

/** Returns false if the name is taken. */
export async function claim(file: string, id: string): Promise<boolean> {
  try {
    await writeFile(file, textOf(id), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return isClaim(file, id)
  }
}

/** Whether the file is a claim of this file id. */
export async function isClaim(file: string, id: string): Promise<boolean> {
  let handle: FileHandle
  try {
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return false
  }
  try {
    const text = textOf(id)
    const stat = await handle.stat()
    return stat.isFile() && stat.size === text.length && (await handle.readFile()).equals(text)
  } finally {
    await handle.close()
  }
}
