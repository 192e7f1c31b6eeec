/**
 * Uploads files to a mailbox, in as many requests as its limits require. Each request is atomic, and retried
 * under the same key after a transient failure.
 */
import { hash, randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { UNKNOWN_TYPE } from '../clean/clean-type.ts'
import { ask, badAnswer, jsonOf, type Question } from './http/ask.ts'
import { ClientError, textOf } from './http/client-error.ts'
import { type Listed, listedOf, readLimits, type ServerLimits } from './http/listing.ts'
import { bodyOf, overheadOf, type Part } from './http/multipart-body.ts'
import { LINE_OPTIONS, type LineOptions, lineOf, refuseOthers } from './options.ts'
import { delayAfter, sleep } from './time.ts'

export interface FileToSend {
  readonly path: string
  /** The name in the inbox (default: the file's name). */
  readonly name?: string
  /** Default: derived from common extensions. */
  readonly type?: string
}

export type SentFile = Listed

export interface UploadProgress {
  readonly sentBytes: number
  readonly totalBytes: number
  /** The current file. */
  readonly path: string
}

export interface UploadOptions extends LineOptions {
  readonly files: readonly FileToSend[]
  /** A retry with the same key and files creates no duplicates (default: a new key per call). */
  readonly key?: string
  readonly onProgress?: (progress: UploadProgress) => void
  /** Called for the files of each request that has arrived. */
  readonly onSent?: (files: readonly SentFile[]) => void
  /** Maximum attempts per request (default 5). */
  readonly attempts?: number
  readonly signal?: AbortSignal
}

const OWN_OPTIONS: (keyof UploadOptions)[] = ['files', 'key', 'onProgress', 'onSent', 'attempts', 'signal']

interface Sized extends Part {
  readonly size: number
}

const SILENT_MS = 60_000
const LONGEST_KEY = 200
/** Refusals of an overloaded server. */
const BUSY = new Set(['MAILBOX_BUSY', 'TOO_MANY'])
const BACKOFF = { firstMs: 500, mostMs: 30_000 }

export async function upload(options: UploadOptions): Promise<SentFile[]> {
  refuseOthers(options, [...LINE_OPTIONS, ...OWN_OPTIONS])
  const { files: given, key = randomUUID(), onProgress = () => {}, onSent = () => {}, attempts = 5 } = options
  const { signal = new AbortController().signal } = options
  const line = lineOf(options)
  const files = await Promise.all(given.map(sizedOf))
  const requests = grouped(files, await readLimits(line, signal))
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0)
  const sent: SentFile[] = []
  let doneBytes = 0
  for (const [n, group] of requests.entries()) {
    const tell = (sentBytes: number, at: string): void =>
      onProgress({ sentBytes: doneBytes + sentBytes, totalBytes, path: at })
    for (let attempt = 1; ; attempt += 1) {
      try {
        const boundary = `jobmill-${randomUUID()}`
        const question: Question = {
          method: 'POST',
          headers: {
            'content-type': `multipart/form-data; boundary=${boundary}`,
            'idempotency-key': requests.length === 1 ? key : keyOf(key, n),
          },
          body: (alive) => bodyOf(group, boundary, (bytes, at) => (alive(), tell(bytes, at))),
          timeoutMs: SILENT_MS,
          signal,
        }
        const { files: answered } = await ask(line, '/uploads', question, jsonOf)
        const arrived = sentOf(answered, group.length)
        sent.push(...arrived)
        onSent(arrived)
        break
      } catch (error) {
        if (attempt >= attempts || signal.aborted || !isTransient(error)) throw error
        await sleep(delayAfter(attempt, BACKOFF, (error as ClientError).retryAfterMs), signal)
      }
    }
    doneBytes += group.reduce((sum, { size }) => sum + size, 0)
  }
  return sent
}

async function sizedOf({ path: at, name = path.basename(at), type }: FileToSend): Promise<Sized> {
  const found = await stat(at).catch((error: unknown) => {
    throw new ClientError('FILE_UNREADABLE', `${at} cannot be read: ${textOf(error)}`, {
      cause: error,
      fix: 'Check the path and its permissions',
    })
  })
  if (!found.isFile())
    throw new ClientError('FILE_UNREADABLE', `${at} is not a file`, { fix: 'Pass files only' })
  const known = TYPES[path.extname(at).toLowerCase()] ?? UNKNOWN_TYPE
  return { path: at, name, type: type ?? known, size: found.size }
}

/** The key of one request of several, within the maximum length. */
function keyOf(key: string, n: number): string {
  const own = `${key}-${n}`
  return own.length <= LONGEST_KEY ? own : `${hash('sha256', key, 'hex')}-${n}`
}

/** Groups files in order. Empty files and files above the limit are reported before anything is sent. */
function grouped(
  files: readonly Sized[],
  { maxFiles, maxFileBytes, maxRequestBytes }: ServerLimits,
): Sized[][] {
  const groups: Sized[][] = []
  let bytes = Infinity
  for (const file of files) {
    if (file.size === 0)
      throw new ClientError('FILE_EMPTY', `${file.path} is empty, and an inbox accepts no empty files`, {
        fix: 'Remove it from the list',
      })
    const size = file.size + overheadOf(file)
    const most = Math.min(maxFileBytes, maxRequestBytes - overheadOf(file))
    if (file.size > most)
      throw new ClientError('FILE_TOO_LARGE', `${file.path} is too large: ${file.size} bytes (max ${most})`, {
        fix: 'Split the file, or raise the limit of the mailbox',
      })
    const last = groups.at(-1)
    if (last !== undefined && last.length < maxFiles && bytes + size <= maxRequestBytes) {
      last.push(file)
      bytes += size
    } else {
      groups.push([file])
      bytes = size
    }
  }
  return groups
}

function sentOf(answered: unknown, expected: number): SentFile[] {
  const files = Array.isArray(answered) ? answered.map(listedOf).filter((file) => file !== null) : []
  if (files.length !== expected) throw badAnswer('does not list every file that was sent')
  return files
}

/** Whether a retry makes sense. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  if (error.code === 'UNREACHABLE') return true
  return [408, 500, 502, 503, 504].includes(error.status ?? 0) || BUSY.has(error.serverCode ?? '')
}

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.zip': 'application/zip',
}
