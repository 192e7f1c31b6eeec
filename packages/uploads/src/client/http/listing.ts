/** Reads the list of a mailbox. Entries are validated, because their ids and names become paths. */
import { cleanId } from '../../clean/ids.ts'
import { ask, badAnswer, jsonOf, type Line } from './ask.ts'

export interface Listed {
  readonly id: string
  readonly uri: string
  /** The name in the inbox. */
  readonly name: string
  readonly mimeType: string
  readonly size: number
  readonly sha256: string
}

const ANSWER_MS = 15_000

interface ListRequest {
  /** Null: from the beginning, which lists everything that is not acknowledged. */
  readonly after: string | null
  /** How long the inbox holds an empty page open. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** One page. `bad` is the number of invalid entries. */
export async function listPage(line: Line, { after, waitMs, signal }: ListRequest) {
  const query = new URLSearchParams({ state: 'pending', wait: `${Math.round(waitMs)}ms` })
  if (after !== null) query.set('after', after)
  const question = { timeoutMs: waitMs + ANSWER_MS, signal }
  const { files, cursor, more } = await ask(line, `/uploads?${query.toString()}`, question, jsonOf)
  if (!Array.isArray(files) || typeof cursor !== 'string') throw badAnswer('is not a list of files')
  const read = files.map(listedOf).filter((file) => file !== null)
  // A cursor that does not advance ends the list.
  return { files: read, bad: files.length - read.length, cursor, more: more === true && cursor !== after }
}

export type ServerLimits = Readonly<Record<'maxFiles' | 'maxFileBytes' | 'maxRequestBytes', number>>

export async function readLimits(line: Line, signal: AbortSignal): Promise<ServerLimits> {
  const question = { timeoutMs: ANSWER_MS, signal }
  const { maxFiles, maxFileBytes, maxRequestBytes } = await ask(line, '/limits', question, jsonOf)
  for (const value of [maxFiles, maxFileBytes, maxRequestBytes])
    if (!Number.isSafeInteger(value)) throw badAnswer('does not contain the limits of the inbox')
  return { maxFiles, maxFileBytes, maxRequestBytes } as ServerLimits
}

/** Null for an invalid entry. */
export function listedOf(value: unknown): Listed | null {
  if (typeof value !== 'object' || value === null) return null
  const { id, uri, name, mimeType, size, sha256 } = value as Record<string, unknown>
  const file = typeof id === 'string' ? cleanId(id) : null
  if (file === null || typeof name !== 'string' || typeof mimeType !== 'string') return null
  if (typeof uri !== 'string' || !URI.test(uri) || !uri.endsWith(`/${file}`)) return null
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return null
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return null
  return { id: file, uri, name: name.slice(0, 1_000), mimeType: mimeType.slice(0, 300), size, sha256 }
}

const URI = /^jobmill-upload:[0-9a-f-]{36}\/[0-9a-f-]{36}$/
