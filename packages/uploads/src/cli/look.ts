/** Checks whether the inbox could start, and reports all problems. Creates nothing. */
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { isJobmillError } from 'jobmill'
import { isLoopback, readTokens } from 'jobmill-server'
import { checkPlace, peek, placeOf } from 'jobmill-tables'
import { belongsTo, ownerOf } from '../blobs/marker.ts'
import type { ConfigProblem, ReadConfig } from '../config/shape.ts'
import { systemCodeOf } from '../files.ts'
import { DEFAULT_BLOBS, DEFAULT_DATABASE } from './open-inbox.ts'

export const DEFAULT_PORT = 8788
export const DEFAULT_ADMIN_PORT = 8789
export const LOOPBACK = '127.0.0.1'

export type Looked = Awaited<ReturnType<typeof look>>

export async function look(read: ReadConfig) {
  const { config, placeOf: givenAt } = read
  const { database: address = DEFAULT_DATABASE, blobs = DEFAULT_BLOBS } = config
  const problems: ConfigProblem[] = []
  const wrong = (name: 'database' | 'blobs', message: string): void =>
    void problems.push({ place: givenAt(name) ?? name, message })
  const database = await checkPlace(address).catch((error: unknown) => {
    if (isJobmillError(error)) return error
    throw error
  })
  const away = typeof database === 'string' ? null : database
  if (away !== null)
    wrong('database', away.field === 'database' ? away.message.replace(/^database: /, '') : away.message)
  const found = blobs === 'postgres' ? 'made' : await folderAt(blobs)
  if (blobs === 'postgres' && isFile(address))
    wrong(
      'blobs',
      'storing files in the database requires PostgreSQL. Use a folder, or set DATABASE_URL to postgres://…',
    )
  if (found === 'refused')
    wrong(
      'blobs',
      `must be a folder that this user can write to (got ${blobs}). Use another folder, or grant write access`,
    )
  if (found === 'made' && blobs !== 'postgres' && typeof database === 'string') {
    const other = await otherOwner(blobs, address, database === 'made' || !isFile(address))
    if (other !== null) wrong('blobs', other)
  }
  problems.push(...addressProblems(read))
  return {
    database: typeof database === 'string' ? database : ('missing' as const),
    blobs: found === 'made' ? found : ('missing' as const),
    problems,
    /** The error of an unusable database; null if it is usable. */
    away,
  }
}

/** The problem of a folder that belongs to another inbox than the database; null if it is usable. */
async function otherOwner(folder: string, address: string, isThere: boolean): Promise<string | null> {
  const owner = await ownerOf(folder)
  if (owner === null) return null
  // On PostgreSQL, the tables of the inbox may exist before the schema of the mill.
  const inbox = isThere ? await peek(address, { app: 'uploads', table: 'uploads_inbox', column: 'id' }) : null
  if (owner === inbox) return null
  return belongsTo(folder, owner).message.replace(/^blobs: /, '')
}

/** Mission Control needs its own port, so that a proxy in front of the mailbox API does not expose it. */
export function addressProblems({ config, placeOf: givenAt }: ReadConfig): ConfigProblem[] {
  const { port = DEFAULT_PORT, adminPort = DEFAULT_ADMIN_PORT } = config
  const { bind = LOOPBACK, adminBind = LOOPBACK } = config
  const problems = tokenProblems(config.tokens, givenAt('tokens') ?? 'tokens')
  if (!isLoopback(adminBind) && config.tokens === undefined)
    problems.push({
      place: givenAt('adminBind') ?? 'adminBind',
      message: `refusing to serve Mission Control without authentication on an address other than loopback (got ${adminBind}). Set JOBMILL_TOKENS to lines of "name role token", or JOBMILL_TOKENS_FILE to a file with them; or bind to ${LOOPBACK}`,
    })
  if (adminPort !== 0 && adminPort === port && adminBind === bind)
    problems.push({
      place: givenAt('adminPort') ?? givenAt('port') ?? 'adminPort',
      message: `port ${port} is already used by the mailbox API. Pass another port with --admin-port`,
    })
  return problems
}

/** Reports what `start` would refuse, before the database is opened. */
function tokenProblems(tokens: string | undefined, place: string): ConfigProblem[] {
  if (tokens === undefined) return []
  try {
    readTokens(tokens, place)
    return []
  } catch (error) {
    if (!isJobmillError(error)) throw error
    const { field = place, message } = error
    return [{ place: field, message: message.replace(`${field}: `, '') }]
  }
}

function isFile(address: string): boolean {
  try {
    return placeOf(address).type === 'sqlite'
  } catch {
    return false
  }
}

/** The folder is created with its parents, so the first existing parent must be writable. */
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
