/** The options of the client, validated on call. */
import path from 'node:path'
import { textMs } from '../clean/duration.ts'
import { cleanId } from '../clean/ids.ts'
import type { Line } from './http/ask.ts'
import { ClientError } from './http/client-error.ts'
import type { PullFault } from './fault-points.ts'
import { refuseOthers } from './known-options.ts'
import type { Backoff } from './time.ts'
import { tokenReader, type TokenSource } from './http/token.ts'
import { safeLine } from './safe-line.ts'
import { type Trouble, troubleText } from './trouble.ts'

export interface LineOptions {
  /** The URL of the inbox: `https://inbox.example`. */
  readonly url: string
  readonly mailbox: string
  /** The file is read, or the function called, for every request, so that the token can be rotated. */
  readonly token: TokenSource
}

export interface PullOptions extends LineOptions {
  /** Created if it does not exist. Only one puller at a time can use it. */
  readonly folder: string
  /** `poll` uses long polling, `events` uses server-sent events (default `poll`). */
  readonly by?: 'poll' | 'events'
  /** Maximum parallel downloads (default 4). */
  readonly concurrency?: number
  /** How long files stay in the folder after they are acknowledged (default 7 d), or `forever`. */
  readonly keepFor?: number | string
  /** Larger files are refused, even if the inbox accepts them. */
  readonly maxFileBytes?: number
  /** How long a long poll waits for new files (default 30 s, at most 60 s). */
  readonly wait?: number | string
  /** How often all unacknowledged files are listed from the beginning (default 10 min). */
  readonly relistEvery?: number | string
  /** A download without progress for this long is aborted (default 60 s). */
  readonly silence?: number | string
  /** The first and the longest wait between attempts (default 1 s and 5 min). */
  readonly backoff?: { readonly first: number | string; readonly most: number | string }
  /** How often a file is fetched with a wrong hash before it waits for the next complete list (default 5). */
  readonly hashAttempts?: number
  /**
   * Called for each complete file, which `rewrite` can then resolve. The file is acknowledged after this
   * returns; if it throws, the call is retried later. After a crash, it may be called twice for a file.
   */
  readonly onFile?: (file: PulledFile) => void | Promise<void>
  /** Called for each problem (default: prints to standard error). */
  readonly onTrouble?: (trouble: Trouble) => void
  /** For tests: called between any two steps. */
  readonly fault?: PullFault
  /** For tests: the current time in milliseconds. */
  readonly clock?: () => number
}

export interface PulledFile {
  readonly id: string
  readonly uri: string
  /** The path of the file in the folder. */
  readonly path: string
  /** The name in the inbox. */
  readonly name: string
  readonly mimeType: string
  readonly size: number
  readonly sha256: string
}

/** The options with all defaults applied. */
export interface Settings {
  readonly line: Line
  readonly folder: string
  readonly by: 'poll' | 'events'
  readonly concurrency: number
  /** Infinity for `forever`. */
  readonly keepForMs: number
  readonly maxFileBytes: number
  readonly waitMs: number
  readonly relistMs: number
  readonly silenceMs: number
  readonly backoff: Backoff
  readonly hashAttempts: number
  readonly onFile: (file: PulledFile) => void | Promise<void>
  readonly onTrouble: (trouble: Trouble) => void
  readonly fault: PullFault
  readonly clock: () => number
}

const DAY_MS = 86_400_000

const PULL = {
  url: true,
  mailbox: true,
  token: true,
  folder: true,
  by: true,
  concurrency: true,
  keepFor: true,
  maxFileBytes: true,
  wait: true,
  relistEvery: true,
  silence: true,
  backoff: true,
  hashAttempts: true,
  onFile: true,
  onTrouble: true,
  fault: true,
  clock: true,
} as const satisfies Record<keyof PullOptions, true>

/** `others`: options that only some functions accept. */
export function settingsOf(given: PullOptions, ...others: readonly string[]): Settings {
  refuseOthers(given, [...Object.keys(PULL), ...others])
  const { folder, by = 'poll', keepFor = '7d', backoff = { first: '1s', most: '5m' } } = given
  if (typeof folder !== 'string' || folder === '')
    throw invalid('folder', 'is missing', 'Pass the folder for the files')
  if (!['poll', 'events'].includes(by)) throw invalid('by', 'must be poll or events', 'Pass poll or events')
  return {
    line: lineOf(given),
    folder: path.resolve(folder),
    by,
    concurrency: whole(given.concurrency ?? 4, 'concurrency', 1, 64),
    keepForMs: keepFor === 'forever' ? Infinity : time(keepFor, 'keepFor', 0, 3_660 * DAY_MS),
    maxFileBytes: whole(given.maxFileBytes ?? Number.MAX_SAFE_INTEGER, 'maxFileBytes', 1),
    waitMs: time(given.wait ?? '30s', 'wait', 100, 60_000),
    relistMs: time(given.relistEvery ?? '10m', 'relistEvery', 10, DAY_MS),
    silenceMs: time(given.silence ?? '60s', 'silence', 1, DAY_MS),
    backoff: {
      firstMs: time(backoff.first, 'backoff.first', 1, DAY_MS),
      mostMs: time(backoff.most, 'backoff.most', 1, DAY_MS),
    },
    hashAttempts: whole(given.hashAttempts ?? 5, 'hashAttempts', 1, 1_000),
    onFile: given.onFile ?? (() => {}),
    onTrouble: quietly(given.onTrouble ?? toStandardError),
    fault: given.fault ?? (() => {}),
    clock: given.clock ?? Date.now,
  }
}

export function lineOf({ url, mailbox, token }: LineOptions): Line {
  const id = typeof mailbox === 'string' ? cleanId(mailbox) : null
  if (id === null)
    throw invalid('mailbox', 'must be a UUID', 'Pass the id from "jobmill-uploads mailboxes list"')
  if (token === undefined || token === '')
    throw invalid('token', 'is missing', 'Pass a token of the mailbox, or { file } with one')
  const at = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (at === null || !['http:', 'https:'].includes(at.protocol))
    throw invalid('url', 'must be a URL', 'Pass a URL such as https://inbox.example')
  if (at.username !== '' || at.password !== '' || at.search !== '' || at.hash !== '')
    throw invalid('url', 'must not have a user, password, query or fragment', 'Remove them from the URL')
  return {
    address: `${at.origin}${at.pathname.replace(/\/+$/, '')}/mailboxes/${id}`,
    mailbox: id,
    token: tokenReader(token),
  }
}

function time(value: number | string, field: string, leastMs: number, mostMs: number): number {
  const ms = typeof value === 'number' ? value : textMs(value)
  if (ms >= leastMs && ms <= mostMs) return ms
  throw invalid(
    field,
    'must be a duration',
    `Pass milliseconds, or text with the units ms, s, m, h and d, such as 90s, from ${leastMs} ms to ${mostMs / 1_000} s`,
  )
}

function whole(value: number, field: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  throw invalid(field, `must be a whole number ${range}`, 'Pass a number in this range, or omit it')
}

function invalid(field: string, message: string, fix: string): ClientError {
  return new ClientError('OPTION_INVALID', message, { field, fix })
}

/** An error in the callback must not affect the puller. */
function quietly(tell: (trouble: Trouble) => void): (trouble: Trouble) => void {
  return (trouble) => {
    try {
      tell(trouble)
    } catch (error) {
      printLine(`uploads pull onTrouble failed: ${safeLine(String(error))}`)
    }
  }
}

function toStandardError(trouble: Trouble): void {
  printLine(`uploads pull ${troubleText(trouble)}`)
}

/** The console ignores a broken standard error, which would otherwise end the process. */
function printLine(line: string): void {
  console.error(line)
}
