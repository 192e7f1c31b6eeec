/** The target folder: locked by one puller, and cleaned of partial files from crashed ones. */
import { lstat, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { cleanName } from '../../clean/clean-name.ts'
import { flushFolder, makeFolder } from '../../files.ts'
import { ClientError, invalid, textOf } from '../http/client-error.ts'
import { hold } from './hold.ts'

/** The subfolder for the lock and the index. */
const OWN = '.jobmill-uploads'
const PART = /^\.[0-9a-f-]{36}\.[0-9a-f]{16}\.part$/

export async function openPlace(folder: string) {
  const own = path.join(folder, OWN)
  for (const at of [folder, own])
    await makeFolder(at).catch((error: unknown) => {
      throw new ClientError('OPTION_INVALID', `must be a writable folder: ${textOf(error)}`, {
        field: 'folder',
        fix: 'Pass a folder that this user can write to',
        cause: error,
      })
    })
  // A link could make the client write elsewhere.
  if (!(await lstat(own)).isDirectory())
    throw invalid('folder', `contains ${OWN}, which is not a folder`, 'Remove it, or pass another folder')
  const release = await hold(path.join(own, 'lock'), folder)
  try {
    for (const name of await readdir(folder)) if (PART.test(name)) await rm(path.join(folder, name))
    await flushFolder(folder)
  } catch (error) {
    await release()
    throw error
  }
  return { indexFile: path.join(own, 'index.jsonl'), release }
}

/** The file name in the folder. It cannot lead to another folder. */
export function fileNameOf({ id, name }: { readonly id: string; readonly name: string }): string {
  return `${id}-${cleanName(name)}`
}

export function partNameOf(id: string, random: string): string {
  return `.${id}.${random}.part`
}
