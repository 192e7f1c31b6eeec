/**
 * A name that is taken before the file gets it, for disks that have no second names: made or not, in one step, and then replaced by the file. It says whose it is, so
 * that one that a crash has left is known, and nothing else is ever replaced.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { systemCodeOf } from './client-error.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

const textOf = (id: string): Buffer => Buffer.from(`jobmill-uploads keeps this name for the file ${id}\n`)

/** False when something has the name already. */
export async function claim(file: string, id: string): Promise<boolean> {
  try {
    await writeFile(file, textOf(id), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return isClaim(file, id)
  }
}

/** Whether it is there, and nothing but a claim of this file. */
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
