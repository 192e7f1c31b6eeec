/** What the API can be told, checked, with what counts where nothing is said. */
import { safeLines } from '../job/safe-text.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import type { Platform } from '../platform/platform.ts'
import type { HttpApps } from './apps.ts'
import type { Passthrough } from './passthrough.ts'
import type { AccessOptions } from './access/access-control.ts'
import type { Authenticate } from './access/identity.ts'
import type { StreamBounds } from './access/streams.ts'

export interface HttpOptions {
  /** Lines of `name role token`: who may come in. Several at once, so that one can be replaced by another. */
  readonly tokens?: string
  /**
   * Instead: who a request is from, by a session of yours for example. Null for an anonymous caller: 401, also for Mission Control itself. A Response is sent
   * as it is, such as a redirect to your login.
   */
  readonly authenticate?: Authenticate
  /** Every caller is an admin. Only where nobody else can reach it. */
  readonly insecure?: boolean
  /** Where all of it is when that is not the root: `/ops/mill`. */
  readonly basePath?: string
  /** False for the API alone, without Mission Control (default true, where it is installed). */
  readonly page?: boolean
  /** Which pages may show Mission Control in a frame: origins, or `'self'` with its quotes (default none). */
  readonly frameAncestors?: readonly string[]
  /** Applications behind the same door, by name, at `/api/apps/<name>/…`: to look takes a viewer, everything else an operator. */
  readonly apps?: HttpApps
  /**
   * Asked before all else, with the request as it came: for addresses of an application that have an authentication of their own, such as webhooks. Null for
   * what is not its own. What it answers does not pass our door: no tokens, no limits, and bodies stream.
   */
  readonly passthrough?: Passthrough
  /** Keys whose values viewers do not see in payloads, results, metadata and logs (default `SECRET_KEYS`); an empty list hides nothing. */
  readonly redact?: readonly RegExp[]
  /** The largest body of a request (default 8 MiB). */
  readonly maxBodyBytes?: number
  /** Of all bodies that are being read or worked on, for all callers together (default 8 times the largest). Beyond that callers get 503. */
  readonly maxBodiesBytes?: number
  /** Event streams that one caller may have open in this process (default 100). */
  readonly streamsPerCaller?: number
  /** Event streams of all callers together (default 1,000). */
  readonly maxStreams?: number
  /** For each name, in this process (default 1,000). */
  readonly requestsPerSecond?: number
  /** For each address, of those who have not said who they are (default 20). */
  readonly anonymousPerSecond?: number
  /** Hears of faults on our side, which callers are told nothing of (default: standard error). */
  readonly onError?: (error: unknown, what: string) => void
  readonly platform?: Platform
}

const KEYS = [
  'tokens',
  'authenticate',
  'insecure',
  'basePath',
  'page',
  'frameAncestors',
  'apps',
  'passthrough',
  'redact',
  'maxBodyBytes',
  'maxBodiesBytes',
  'streamsPerCaller',
  'maxStreams',
  'requestsPerSecond',
  'anonymousPerSecond',
  'onError',
  'platform',
] as const satisfies readonly (keyof HttpOptions)[]

/** A typo is never ignored. */
export function checkHttpOptions(options: HttpOptions): void {
  checkObjectKeys(options, 'options', KEYS)
}

const MAX_BODY_BYTES = 8 * 1_024 * 1_024
/** Bodies of that size at once. */
const MAX_BODIES = 8
const STREAMS_PER_CALLER = 100
const MAX_STREAMS = 1_000
const REQUESTS_PER_SECOND = 1_000
const ANONYMOUS_PER_SECOND = 20

type Bounds = Pick<
  AccessOptions,
  'maxBodyBytes' | 'maxBodiesBytes' | 'requestsPerSecond' | 'anonymousPerSecond'
>

export function boundsOf(options: HttpOptions): Bounds {
  const { maxBodyBytes = MAX_BODY_BYTES, maxBodiesBytes = MAX_BODIES * maxBodyBytes } = options
  const { requestsPerSecond = REQUESTS_PER_SECOND, anonymousPerSecond = ANONYMOUS_PER_SECOND } = options
  if (maxBodiesBytes < maxBodyBytes)
    throw new JobmillError('OPTION_CONFLICT', `a body of maxBodyBytes (${maxBodyBytes}) would never fit`, {
      field: 'maxBodiesBytes',
      value: shown(maxBodiesBytes),
      fix: 'Pass at least maxBodyBytes, or omit it',
    })
  return { maxBodyBytes, maxBodiesBytes, requestsPerSecond, anonymousPerSecond }
}

export function streamBoundsOf({
  streamsPerCaller: perCaller = STREAMS_PER_CALLER,
  maxStreams: total = MAX_STREAMS,
}: HttpOptions): StreamBounds {
  for (const [field, value] of [
    ['streamsPerCaller', perCaller],
    ['maxStreams', total],
  ] as const)
    if (!Number.isSafeInteger(value) || value < 1)
      throw new JobmillError('NUMBER_INVALID', 'is not a whole number above 0', {
        field,
        value: shown(value),
        fix: 'Pass a whole number such as 100, or omit it',
      })
  return { perCaller, total }
}

export function toStandardError(error: unknown, what: string): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${safeLines(`jobmill error ${what}: ${text}`)}\n`)
}
