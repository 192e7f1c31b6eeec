/** One attempt at one file: fetched unless it is there, known, told, acknowledged last. Never rejects: every way to end is a value. */
import path from 'node:path'
import { ask, jsonOf } from './ask.ts'
import { ClientError, systemCodeOf, textOf } from './client-error.ts'
import type { Entry, Known } from './known.ts'
import type { Listed } from './listing.ts'
import type { PulledFile, Settings } from './options.ts'
import { fileNameOf } from './place.ts'
import { Differs, type Half, lookAt, NameTaken, save } from './save.ts'
import type { TroubleCode } from './trouble.ts'

export type Outcome =
  | { readonly is: 'pulled'; readonly file: PulledFile }
  /** The inbox has it no longer. */
  | { readonly is: 'gone' }
  | { readonly is: 'stopped' }
  | Failed

export interface Failed {
  readonly is: 'failed'
  readonly code: TroubleCode
  readonly message: string
  readonly cause: unknown
  readonly retryAfterMs: number
}

export interface BringTools {
  readonly settings: Settings
  readonly known: Known
  /** The largest that is taken, as the inbox and the options have it. */
  readonly maxFileBytes: () => number
  readonly signal: AbortSignal
}

/** What is remembered of a file between attempts. */
export interface Memory extends Half {
  /** `onFile` has taken it: what it did with the file is its business, and it is not told again. */
  isTold: boolean
}

const ACK_MS = 15_000

export async function bring(tools: BringTools, listed: Listed, memory: Memory): Promise<Outcome> {
  const { settings, known, signal } = tools
  const file = fileNameOf(listed)
  const entry: Entry = { ...listed, file, doneAt: null }
  const pulled = pulledOf(settings.folder, entry)
  try {
    await settings.fault('pull:listed')
    const before = known.get(listed.uri)
    // Acknowledged once, it is not looked for again: it may have been moved away since.
    const isDone = before !== undefined && before.doneAt !== null
    if (!isDone && !memory.isTold) {
      const failed = await fetchUnlessThere(tools, listed, pulled.path, memory)
      if (failed !== null) return failed
      if (before === undefined) await known.put(entry)
      await settings.fault('pull:known')
      const refused = await tell(settings, pulled)
      if (refused !== null) return refused
      memory.isTold = true
      await settings.fault('pull:told')
    }
    await acknowledge(tools, listed)
    await settings.fault('pull:acked')
    await known.note({ ...(before ?? entry), doneAt: before?.doneAt ?? settings.clock() })
    await settings.fault('pull:noted')
    return { is: 'pulled', file: pulled }
  } catch (error) {
    return signal.aborted ? { is: 'stopped' } : outcomeOf(error)
  }
}

export function pulledOf(folder: string, entry: Entry): PulledFile {
  const { id, uri, name, mimeType, size, sha256 } = entry
  return { id, uri, path: path.join(folder, entry.file), name, mimeType, size, sha256 }
}

/** Null when it is there. */
async function fetchUnlessThere(
  { settings, maxFileBytes, signal }: BringTools,
  listed: Listed,
  file: string,
  memory: Memory,
): Promise<Failed | null> {
  const there = await lookAt(file, listed)
  if (there === 'right') return null
  if (there === 'other') throw new NameTaken()
  const most = maxFileBytes()
  if (listed.size > most)
    return failure('FILE_TOO_LARGE', `it has ${listed.size} bytes, and ${most} are taken at most`)
  await save(settings, listed, file, memory, signal)
  return null
}

async function tell({ onFile }: Settings, file: PulledFile): Promise<Failed | null> {
  try {
    await onFile(file)
    return null
  } catch (error) {
    return failure('LISTENER_FAILED', `onFile has thrown: ${textOf(error)}`, error)
  }
}

async function acknowledge({ settings, signal }: BringTools, { id, sha256 }: Listed): Promise<void> {
  const question = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sha256 }),
    timeoutMs: ACK_MS,
    signal,
  }
  try {
    const { acked } = await ask(settings.line, `/uploads/${id}/ack`, question, jsonOf)
    if (acked !== true) throw new ClientError('ANSWER_BAD', 'the answer does not say that it is acknowledged')
  } catch (error) {
    // The inbox has it no longer, and it is here: there is nothing left to say.
    if (error instanceof ClientError && error.status === 404) return
    throw new AckFailed(error)
  }
}

class AckFailed extends Error {
  constructor(cause: unknown) {
    super(textOf(cause), { cause })
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])

function outcomeOf(error: unknown): Outcome {
  if (error instanceof AckFailed) {
    const { cause } = error
    const { retryAfterMs = 0, status = null } = cause instanceof ClientError ? cause : {}
    const code = status === 401 || status === 403 ? 'TOKEN_REFUSED' : 'ACK_FAILED'
    return failure(code, error.message, cause, retryAfterMs)
  }
  if (error instanceof Differs) return failure('HASH_DIFFERS', error.message, error)
  if (error instanceof NameTaken)
    return failure('NAME_TAKEN', 'something else has its name in the folder. Move that away', error)
  if (error instanceof ClientError) {
    if (error.status === 404) return { is: 'gone' }
    const isToken = error.code === 'TOKEN_UNREADABLE' || error.status === 401 || error.status === 403
    return failure(isToken ? 'TOKEN_REFUSED' : 'FETCH_FAILED', error.message, error, error.retryAfterMs)
  }
  const code = systemCodeOf(error)
  if (FULL.has(code))
    return failure('DISK_FULL', `there is no room for it: ${textOf(error)}. Make room`, error)
  return failure('WRITE_FAILED', textOf(error), error)
}

function failure(code: TroubleCode, message: string, cause: unknown = null, retryAfterMs = 0): Failed {
  return { is: 'failed', code, message, cause, retryAfterMs }
}
