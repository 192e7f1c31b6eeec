/** What a puller can be told, checked at once. */
import path from 'node:path'
import { textMs } from '../clean/duration.ts'
import { cleanId } from '../clean/ids.ts'
import type { Line } from './ask.ts'
import { ClientError } from './client-error.ts'
import type { PullFault } from './fault-points.ts'
import { refuseOthers } from './known-options.ts'
import type { Backoff } from './time.ts'
import { tokenReader, type TokenSource } from './token.ts'
import { safeLine } from './safe-line.ts'
import { type Trouble, troubleText } from './trouble.ts'

export interface LineOptions {
  /** Where the inbox is: `https://inbox.example`. */
  readonly url: string
  readonly mailbox: string
  /** Read anew for every request when it is a file or a function, so that it can be changed. */
  readonly token: TokenSource
}

export interface PullOptions extends LineOptions {
  /** Made when it is not there. One puller at a time. */
  readonly folder: string
  /** `poll` waits for each answer of the list, `events` listens (default `poll`). */
  readonly by?: 'poll' | 'events'
  /** How many files are fetched at once (default 4). */
  readonly concurrency?: number
  /** How long files stay in the folder after their acknowledgement (default 7 d); `forever` is one too. */
  readonly keepFor?: number | string
  /** A file that is larger is refused, also when the inbox would have it. */
  readonly maxFileBytes?: number
  /** How long the list waits for something new (default 30 s, at most 60 s). */
  readonly wait?: number | string
  /** How often everything that is not acknowledged is listed from the beginning (default 10 min). */
  readonly relistEvery?: number | string
  /** After how long without a byte a fetch is broken off (default 60 s). */
  readonly silence?: number | string
  /** The first wait after a failure, and the longest (default 1 s and 5 min). */
  readonly backoff?: { readonly first: number | string; readonly most: number | string }
  /** How often a file with another hash is fetched again before that is left to the next list (default 5). */
  readonly hashAttempts?: number
  /**
   * A file is there, whole and known to `rewrite`. It is acknowledged when this has returned, and again later when this has thrown: after a crash it can hear of
   * a file twice.
   */
  readonly onFile?: (file: PulledFile) => void | Promise<void>
  /** Hears of whatever did not work (default: standard error). */
  readonly onTrouble?: (trouble: Trouble) => void
  /** For tests: called between any two steps. */
  readonly fault?: PullFault
  /** For tests: their now, in milliseconds. */
  readonly clock?: () => number
}

export interface PulledFile {
  readonly id: string
  readonly uri: string
  /** Where it is now. */
  readonly path: string
  /** As the inbox calls it. */
  readonly name: string
  readonly mimeType: string
  readonly size: number
  readonly sha256: string
}

/** The same with everything filled in. */
export interface Settings {
  readonly line: Line
  readonly folder: string
  readonly by: 'poll' | 'events'
  readonly concurrency: number
  /** Infinity for ever. */
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

/** Every one there is. */
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

/** `others`: what only some take. */
export function settingsOf(given: PullOptions, ...others: readonly string[]): Settings {
  refuseOthers(given, [...Object.keys(PULL), ...others])
  const { folder, by = 'poll', keepFor = '7d', backoff = { first: '1s', most: '5m' } } = given
  if (typeof folder !== 'string' || folder === '')
    throw invalid('folder', 'is missing', 'Say where the files shall go')
  if (!['poll', 'events'].includes(by)) throw invalid('by', 'is not known', 'Say poll or events')
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
    throw invalid('mailbox', 'is no UUID', 'Copy the id that "jobmill-uploads mailboxes add" has shown')
  if (token === undefined || token === '')
    throw invalid('token', 'is missing', 'Give a token of the mailbox, or { file } that has one')
  const at = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (at === null || !['http:', 'https:'].includes(at.protocol))
    throw invalid('url', 'is no address', 'Give one such as https://inbox.example')
  if (at.username !== '' || at.password !== '' || at.search !== '' || at.hash !== '')
    throw invalid('url', 'has more than an address and a path', 'Leave out user, password, ? and #')
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
    'is no length of time that can be used',
    `Pass milliseconds, or text with the units ms, s, m, h and d, such as 90s, from ${leastMs} ms to ${mostMs / 1_000} s`,
  )
}

function whole(value: number, field: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw invalid(field, 'is no whole number that can be used', `Give ${least} to ${most}`)
}

function invalid(field: string, message: string, fix: string): ClientError {
  return new ClientError('OPTION_INVALID', message, { field, fix })
}

/** Whoever listens cannot change what happens. */
function quietly(tell: (trouble: Trouble) => void): (trouble: Trouble) => void {
  return (trouble) => {
    try {
      tell(trouble)
    } catch (error) {
      process.stderr.write(`uploads pull onTrouble has thrown: ${safeLine(String(error))}\n`)
    }
  }
}

function toStandardError(trouble: Trouble): void {
  process.stderr.write(`uploads pull ${troubleText(trouble)}\n`)
}
