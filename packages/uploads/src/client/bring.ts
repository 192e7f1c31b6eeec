/**
 * One attempt at one file: fetch it unless it exists, index it, report it, acknowledge it. Never rejects:
 * every outcome is a value.
 */
import path from 'node:path'
import { ask, badAnswer, jsonOf } from './http/ask.ts'
import { systemCodeOf } from '../files.ts'
import { ClientError, textOf } from './http/client-error.ts'
import type { Entry, FileIndex } from './folder/file-index.ts'
import type { Listed } from './http/listing.ts'
import type { PulledFile, Settings } from './options.ts'
import { fileNameOf } from './folder/place.ts'
import { Differs, type Half, lookAt, NameTaken, save } from './folder/save.ts'
import type { TroubleCode } from './trouble.ts'

export type Outcome =
  | { readonly is: 'pulled'; readonly file: PulledFile }
  /** The inbox no longer has the file. */
  | { readonly is: 'gone' }
  | { readonly is: 'stopped' }
  | Failed

export type Failed = Readonly<ReturnType<typeof failure>>

export interface BringTools {
  readonly settings: Settings
  readonly known: FileIndex
  /** The maximum file size, from the inbox and the options. */
  readonly maxFileBytes: () => number
  readonly signal: AbortSignal
}

/** State that is kept between attempts. */
export interface Memory extends Half {
  /** `onFile` has handled the file and is not called again. */
  isReported: boolean
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
    // An acknowledged file is not looked up again: the application may have moved it.
    const isDone = before !== undefined && before.doneAt !== null
    if (!isDone && !memory.isReported) {
      const failed = await fetchUnlessThere(tools, listed, pulled.path, memory)
      if (failed !== null) return failed
      if (before === undefined) await known.put(entry)
      await settings.fault('pull:known')
      const refused = await report(settings, pulled)
      if (refused !== null) return refused
      memory.isReported = true
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

/** Returns null once the file is in the folder. */
async function fetchUnlessThere(
  { settings, maxFileBytes, signal }: BringTools,
  listed: Listed,
  file: string,
  memory: Memory,
): Promise<Failed | null> {
  const there = await lookAt(file, listed)
  if (there === 'right') return null
  if (there === 'other') throw new NameTaken(path.basename(file))
  const most = maxFileBytes()
  if (listed.size > most)
    return failure('FILE_TOO_LARGE', `file too large: ${listed.size} bytes (max ${most})`)
  await save(settings, listed, file, memory, signal)
  return null
}

async function report({ onFile }: Settings, file: PulledFile): Promise<Failed | null> {
  try {
    await onFile(file)
    return null
  } catch (error) {
    return failure('LISTENER_FAILED', `onFile failed: ${textOf(error)}`, error)
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
    if (acked !== true) throw badAnswer('does not confirm the acknowledgement')
  } catch (error) {
    // The inbox no longer has the file, and it is stored here: nothing is left to do.
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
  if (error instanceof NameTaken) {
    const message = `another file in the folder has the name ${error.message}. Move that file away`
    return failure('NAME_TAKEN', message, error)
  }
  if (error instanceof ClientError) {
    if (error.status === 404) return { is: 'gone' }
    return failure(error.isToken ? 'TOKEN_REFUSED' : 'FETCH_FAILED', error.message, error, error.retryAfterMs)
  }
  const code = systemCodeOf(error)
  if (FULL.has(code))
    return failure('DISK_FULL', `no space left on the disk: ${textOf(error)}. Free some space`, error)
  return failure('WRITE_FAILED', textOf(error), error)
}

export function failure(code: TroubleCode, message: string, cause: unknown = null, retryAfterMs = 0) {
  return { is: 'failed' as const, code, message, cause, retryAfterMs }
}
