/**
 * Marks a blob folder with the id of its inbox. The sweep deletes blobs without rows, so two databases that
 * shared a folder would delete each other's blobs.
 */
import { randomUUID } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { JobmillError } from 'jobmill'
import { UPLOAD as ID } from './blob-store.ts'
import { flushFolder } from '../flush.ts'
import { codeOf } from './code-of.ts'

const MARKER = '.jobmill-uploads-inbox'
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Claims an unmarked folder, and refuses a folder of another inbox. */
export async function claimFolder(folder: string, inbox: string): Promise<void> {
  const file = path.join(folder, MARKER)
  if ((await ownerIn(file)) === null) await mark(folder, file, inbox)
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
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Writes and flushes the marker under a temporary name, then links it in one step, which fails if another
 * process was first.
 */
async function mark(folder: string, file: string, inbox: string): Promise<void> {
  const part = `${file}.${randomUUID()}.part`
  try {
    await write(part, inbox)
    await link(part, file).catch((error: unknown) => {
      // Some file systems have no hard links.
      if (NO_LINKS.has(String(codeOf(error)))) return write(file, inbox)
      throw error
    })
    await flushFolder(folder)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(part, { force: true })
  }
}

async function write(file: string, inbox: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(`${inbox}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
