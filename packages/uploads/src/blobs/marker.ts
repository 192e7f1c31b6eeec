/**
 * Whose folder of blobs it is: a file in it with the id of the inbox in the database. The sweep deletes blobs that no row knows, so two databases that share a folder
 * would delete each other's.
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

/** Refuses a folder of another inbox; one that is nobody's is this inbox's from now on. */
export async function claimFolder(folder: string, inbox: string): Promise<void> {
  const file = path.join(folder, MARKER)
  if ((await ownerIn(file)) === null) await mark(folder, file, inbox)
  // Read again: of two who come at the same time, one has made it.
  const owner = await ownerIn(file)
  if (owner !== inbox) throw belongsTo(folder, owner)
}

/** Null for one that is nobody's. */
export function ownerOf(folder: string): Promise<string | null> {
  return ownerIn(path.join(folder, MARKER))
}

export function belongsTo(folder: string, owner: string | null): JobmillError {
  return new JobmillError('OPTION_CONFLICT', `the folder ${folder} belongs to ${wordsOf(owner)}`, {
    field: 'blobs',
    fix: `Name a folder of its own, or the database that this one belongs to; delete ${path.join(folder, MARKER)} only when that database is gone for good`,
  })
}

function wordsOf(owner: string | null): string {
  return owner !== null && ID.test(owner)
    ? `the inbox ${owner} of another database`
    : 'an inbox that its marker does not name'
}

async function ownerIn(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Written whole and flushed under a name of its own, then given its name in one step, which fails where somebody was quicker. */
async function mark(folder: string, file: string, inbox: string): Promise<void> {
  const part = `${file}.${randomUUID()}.part`
  try {
    await write(part, inbox)
    await link(part, file).catch((error: unknown) => {
      // A file system may have no second names for a file.
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
