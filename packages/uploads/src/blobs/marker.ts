/**
 * Marks a blob folder with the id of its inbox. The sweep deletes blobs without rows, so two databases that
 * shared a folder would delete each other's blobs.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { JobmillError } from 'jobmill'
import { UPLOAD as ID } from './blob-store.ts'
import { createWhole, flushFolder, ifMissing } from '../files.ts'

const MARKER = '.jobmill-uploads-inbox'

/** Claims an unmarked folder, and refuses a folder of another inbox. */
export async function claimFolder(folder: string, inbox: string): Promise<void> {
  const file = path.join(folder, MARKER)
  if ((await ownerIn(file)) === null && (await createWhole(file, `${inbox}\n`))) await flushFolder(folder)
  // Read it again, because another process may have written it at the same time.
  const owner = await ownerIn(file)
  if (owner !== inbox) throw belongsTo(folder, owner)
}

/** Null for an unmarked folder. */
export function ownerOf(folder: string): Promise<string | null> {
  return ownerIn(path.join(folder, MARKER))
}

export function belongsTo(folder: string, owner: string | null): JobmillError {
  return new JobmillError('OPTION_CONFLICT', `folder ${folder} belongs to ${wordsOf(owner)}`, {
    field: 'blobs',
    fix: `Use another folder, or the database of that inbox. Delete ${path.join(folder, MARKER)} only if that database no longer exists`,
  })
}

function wordsOf(owner: string | null): string {
  return owner !== null && ID.test(owner)
    ? `inbox ${owner} of another database`
    : 'an unknown inbox: its marker file is invalid'
}

async function ownerIn(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(ifMissing(null))
  return text?.trim() ?? null
}
