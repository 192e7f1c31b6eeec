/** Whether the inbox could start, for who only looks: everything that is wrong, and nothing is made. */
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { isJobmillError, type JobmillError } from 'jobmill'
import { readTokens } from 'jobmill/http'
import { checkPlace, peek, placeOf } from 'jobmill-tables'
import { belongsTo, ownerOf } from '../blobs/marker.ts'
import { systemCodeOf } from '../client/client-error.ts'
import type { ConfigProblem, ReadConfig } from '../config/read-config.ts'
import { DEFAULT_BLOBS, DEFAULT_DATABASE } from './open-inbox.ts'

export const DEFAULT_PORT = 8788
export const DEFAULT_ADMIN_PORT = 8789
export const LOOPBACK = '127.0.0.1'
const THIS_MACHINE = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

export interface Looked {
  readonly database: 'made' | 'missing'
  readonly blobs: 'made' | 'missing'
  readonly problems: readonly ConfigProblem[]
  /** Why the database cannot be had; null where it can. */
  readonly away: JobmillError | null
}

export async function look(read: ReadConfig): Promise<Looked> {
  const { config, placeOf: givenAt } = read
  const { database: address = DEFAULT_DATABASE, blobs = DEFAULT_BLOBS } = config
  const problems: ConfigProblem[] = []
  const wrong = (name: 'database' | 'blobs', message: string): void =>
    void problems.push({ place: givenAt(name) ?? name, message })
  const database = await orError(checkPlace(address))
  const away = typeof database === 'string' ? null : database
  if (away !== null)
    wrong('database', away.field === 'database' ? away.message.replace(/^database: /, '') : away.message)
  const found = blobs === 'postgres' ? 'made' : await folderAt(blobs)
  if (blobs === 'postgres' && isFile(address))
    wrong(
      'blobs',
      'files are kept in a database by PostgreSQL only. Name a folder, or set DATABASE_URL to postgres://…',
    )
  if (found === 'refused')
    wrong(
      'blobs',
      `${blobs} is no folder that this user may write to. Name another, or give this user the right`,
    )
  if (found === 'made' && blobs !== 'postgres' && typeof database === 'string') {
    const other = await otherOwner(blobs, address, database === 'made' || !isFile(address))
    if (other !== null) wrong('blobs', other)
  }
  problems.push(...doorProblems(read))
  return {
    database: typeof database === 'string' ? database : 'missing',
    blobs: found === 'made' ? 'made' : 'missing',
    problems,
    away,
  }
}

async function orError<T>(asked: Promise<T>): Promise<T | JobmillError> {
  try {
    return await asked
  } catch (error) {
    if (isJobmillError(error)) return error
    throw error
  }
}

/** What is said of a folder whose marker has another inbox than the database; null for one that can be used. */
async function otherOwner(folder: string, address: string, isThere: boolean): Promise<string | null> {
  const owner = await ownerOf(folder)
  if (owner === null) return null
  // On a server the tables may be there before the mill's are.
  const inbox = isThere ? await peek(address, { app: 'uploads', table: 'uploads_inbox', column: 'id' }) : null
  if (owner === inbox) return null
  return belongsTo(folder, owner).message.replace(/^blobs: /, '')
}

/** Mission Control has a port of its own, so that what is put in front of the mailboxes does not lead to it. */
export function doorProblems({ config, placeOf: givenAt }: ReadConfig): ConfigProblem[] {
  const {
    port = DEFAULT_PORT,
    bind = LOOPBACK,
    adminPort = DEFAULT_ADMIN_PORT,
    adminBind = LOOPBACK,
  } = config
  const problems = tokenProblems(config.tokens, givenAt('tokens') ?? 'tokens')
  if (!THIS_MACHINE.test(adminBind) && config.tokens === undefined)
    problems.push({
      place: givenAt('adminBind') ?? 'adminBind',
      message: `refusing to serve Mission Control on a public address without authentication (got ${adminBind}). Set JOBMILL_TOKENS to a line "name role token" for each`,
    })
  if (adminPort !== 0 && adminPort === port && adminBind === bind)
    problems.push({
      place: givenAt('adminPort') ?? givenAt('port') ?? 'adminPort',
      message: `the mailboxes already listen on port ${port}. Choose another with --admin-port`,
    })
  return problems
}

/** What `start` would refuse, before it opens the database. */
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
