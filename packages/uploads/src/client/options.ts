/** The options of the client, validated on call. */
import path from 'node:path'
import { textMs } from '../clean/duration.ts'
import { cleanId } from '../clean/ids.ts'
import type { Line } from './http/ask.ts'
import { invalid } from './http/client-error.ts'
import type { Listed } from './http/listing.ts'
import type { PullFault } from './fault-points.ts'
import { tokenReader, type TokenSource } from './http/token.ts'
import { safeLine, type Trouble, troubleText } from './trouble.ts'

export interface LineOptions {
  /** The URL of the inbox: `https://inbox.example`. */
  readonly url: string
  readonly mailbox: string
  /** The file is read, or the function called, for every request, so that the token can be rotated. */
  readonly token: TokenSource
}

export const LINE_OPTIONS: (keyof LineOptions)[] = ['url', 'mailbox', 'token']

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

export interface PulledFile extends Listed {
  /** The path of the file in the folder. */
  readonly path: string
}

/** The options with all defaults applied. */
export type Settings = ReturnType<typeof settingsOf>

const DAY_MS = 86_400_000
const FIX_BY = 'Pass "poll" or "events", or omit it'

const PULL = {
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
} as const satisfies Record<Exclude<keyof PullOptions, keyof LineOptions>, true>

/** `others`: options that only some functions accept. */
export function settingsOf(given: PullOptions, ...others: readonly string[]) {
  refuseOthers(given, [...LINE_OPTIONS, ...Object.keys(PULL), ...others])
  const { folder, by = 'poll', keepFor = '7d', backoff = { first: '1s', most: '5m' } } = given
  if (typeof folder !== 'string' || folder === '')
    throw invalid('folder', 'is missing', 'Pass the folder for the files')
  if (!['poll', 'events'].includes(by))
    throw invalid('by', `must be "poll" or "events" (got ${JSON.stringify(by)})`, FIX_BY)
  return {
    line: lineOf(given),
    folder: path.resolve(folder),
    by,
    concurrency: whole(given.concurrency ?? 4, 'concurrency', 1, 64),
    /** Infinity for `forever`. */
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
    throw invalid(
      'token',
      'is missing',
      'Pass a token of the mailbox, or { file } with the path of a file that contains it',
    )
  const at = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (at === null || !['http:', 'https:'].includes(at.protocol))
    throw invalid('url', 'must be an http or https URL', 'Pass a URL such as https://inbox.example')
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
  const most = mostMs % DAY_MS === 0 ? `${mostMs / DAY_MS} d` : `${mostMs / 1_000} s`
  const what = `must be a duration from ${leastMs} ms to ${most} (got ${JSON.stringify(value)})`
  const fix = 'Pass milliseconds, or text with the units ms, s, m, h and d, such as 90s'
  throw invalid(field, what, field === 'keepFor' ? `${fix}; or forever` : fix)
}

function whole(value: number, field: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  const what = `must be a whole number ${range} (got ${JSON.stringify(value)})`
  throw invalid(field, what, 'Pass a number in this range, or omit it')
}

/** An error in the callback must not affect the puller. */
function quietly(tell: (trouble: Trouble) => void): (trouble: Trouble) => void {
  return (trouble) => {
    try {
      tell(trouble)
    } catch (error) {
      console.error(`uploads pull onTrouble failed: ${safeLine(String(error))}`)
    }
  }
}

/** The console ignores a broken standard error, which would otherwise end the process. */
function toStandardError(trouble: Trouble): void {
  console.error(`uploads pull ${troubleText(trouble)}`)
}

/** Refuses unknown options, so that a typo is never ignored. */
export function refuseOthers(given: unknown, known: readonly string[]): void {
  const names = known.join(', ')
  if (typeof given !== 'object' || given === null)
    throw invalid('options', 'must be an object', `Pass an object with any of these keys: ${names}`)
  const other = Object.keys(given).find((key) => !known.includes(key))
  if (other !== undefined) throw invalid(other, 'is not a known option', `Use one of ${names}`)
}
