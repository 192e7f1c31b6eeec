/** The folder that files go to: held by one puller at a time, and without what a dead one left half written. */
import { lstat, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { cleanName } from '../clean/clean-name.ts'
import { flushFolder, makeFolder } from '../flush.ts'
import { ClientError, textOf } from './client-error.ts'
import { hold } from './hold.ts'

/** What we need for ourselves, beside the files. */
const OWN = '.jobmill-uploads'
const PART = /^\.[0-9a-f-]{36}\.[0-9a-f]{16}\.part$/

export interface Place {
  readonly folder: string
  readonly indexFile: string
  readonly release: () => Promise<void>
}

export async function openPlace(folder: string): Promise<Place> {
  const own = path.join(folder, OWN)
  for (const at of [folder, own])
    await makeFolder(at).catch((error: unknown) => {
      throw new ClientError('OPTION_INVALID', `is no folder that can be used: ${textOf(error)}`, {
        field: 'folder',
        fix: 'Give a folder that this user may write to',
        cause: error,
      })
    })
  // Somebody could have put a link there, to make us write elsewhere.
  if (!(await lstat(own)).isDirectory())
    throw new ClientError('OPTION_INVALID', `has something called ${OWN} that is no folder`, {
      field: 'folder',
      fix: 'Take it away, or give another folder',
    })
  const release = await hold(path.join(own, 'lock'), folder)
  try {
    for (const name of await readdir(folder)) if (PART.test(name)) await rm(path.join(folder, name))
    await flushFolder(folder)
  } catch (error) {
    await release()
    throw error
  }
  return { folder, indexFile: path.join(own, 'index.jsonl'), release }
}

/** What a file is called in the folder: nothing in it can lead anywhere else. */
export function fileNameOf({ id, name }: { readonly id: string; readonly name: string }): string {
  return `${id}-${cleanName(name)}`
}

export function partNameOf(id: string, random: string): string {
  return `.${id}.${random}.part`
}
