/** Whether the inbox could start, for who only looks: everything that is wrong, and nothing is made. */
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { isJobmillError, type JobmillError } from 'jobmill'
import { checkPlace, placeOf } from 'jobmill-tables'
import { systemCodeOf } from '../client/client-error.ts'
import { type ConfigProblem, ConfigInvalid } from '../config/read-config.ts'
import type { Config } from '../config/shape.ts'
import { DEFAULT_BLOBS, DEFAULT_DATABASE } from './open-inbox.ts'

const THIS_MACHINE = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

export interface Looked {
  readonly database: 'made' | 'missing'
  readonly blobs: 'made' | 'missing'
}

/** Rejects with all problems. */
export async function look(config: Config): Promise<Looked> {
  const { database: address = DEFAULT_DATABASE, blobs = DEFAULT_BLOBS } = config
  const problems: ConfigProblem[] = []
  const away: JobmillError[] = []
  const database = await checkPlace(address).catch((error: unknown) => {
    if (!isJobmillError(error)) throw error
    away.push(error)
    problems.push({ place: 'database', message: error.message })
    return 'missing' as const
  })
  const found = blobs === 'postgres' ? 'made' : await folderAt(blobs)
  if (blobs === 'postgres' && isFile(address))
    problems.push({
      place: 'blobs',
      message:
        'files are kept in a database by PostgreSQL only. Name a folder, or set DATABASE_URL to postgres://…',
    })
  if (found === 'refused')
    problems.push({
      place: 'blobs',
      message: `${blobs} is no folder that this user may write to. Name another, or give this user the right`,
    })
  problems.push(...doorProblems(config))
  // Alone it has an exit code of its own.
  if (problems.length === 1 && away[0] !== undefined) throw away[0]
  if (problems.length > 0 || found === 'refused') throw new ConfigInvalid(problems)
  return { database, blobs: found }
}

/** Mission Control stands behind the same address. */
export function doorProblems({ bind = '127.0.0.1', tokens }: Config): ConfigProblem[] {
  if (THIS_MACHINE.test(bind) || tokens !== undefined) return []
  return [
    {
      place: 'bind',
      message: `others than this machine could reach ${bind}, and use Mission Control without saying who they are. Set JOBMILL_TOKENS to a line "name role token" for each`,
    },
  ]
}

function isFile(address: string): boolean {
  try {
    return placeOf(address).type === 'sqlite'
  } catch {
    return false
  }
}

/** It is made with those above it, so the first of them that is there has to be writable. */
async function folderAt(folder: string): Promise<'made' | 'missing' | 'refused'> {
  let at = path.resolve(folder)
  for (;;) {
    const found = await stat(at).catch(systemCodeOf)
    if (typeof found === 'object') {
      const isOurs = found.isDirectory() && (await isWritable(at))
      return !isOurs ? 'refused' : at === path.resolve(folder) ? 'made' : 'missing'
    }
    if (found !== 'ENOENT' || at === path.dirname(at)) return 'refused'
    at = path.dirname(at)
  }
}

function isWritable(at: string): Promise<boolean> {
  return access(at, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
}
