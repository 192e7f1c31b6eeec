/** The options of the HTTP API, their checks and defaults. */
import { JobmillError, type Platform } from 'jobmill'
import {
  BOUNDS,
  checkArray,
  checkBoolean,
  checkFunction,
  checkObjectKeys,
  checkPlatform,
  checkText,
  checkWhole,
  omitUndefined,
  safeLines,
  writeOutput,
} from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { checkApps, type HttpApps } from './apps.ts'
import { checkBasePath } from './server/base-path.ts'
import { checkFrameAncestors } from './server/framing.ts'
import { type Passthrough, ROUTES_FIX } from './passthrough.ts'
import type { Authenticate } from './access/identity.ts'

export interface HttpOptions {
  /** Access tokens, one `name role token` per line. Several can be valid at once, for rotation. */
  readonly tokens?: string
  /**
   * Authenticates requests in place of tokens, for example by your session. Null means anonymous: 401, even
   * for Mission Control. A Response is sent as it is, such as a redirect to your login.
   */
  readonly authenticate?: Authenticate
  /** Without tokens and authenticate, treats every caller as an admin. Only for networks that you trust. */
  readonly insecure?: boolean
  /** The path prefix of all routes, such as `/ops/mill`. */
  readonly basePath?: string
  /** False to serve the API without Mission Control (default true, if it is installed). */
  readonly page?: boolean
  /**
   * The pages that may embed Mission Control in a frame: origins, or `'self'` with its quotes (default none).
   */
  readonly frameAncestors?: readonly string[]
  /**
   * Applications by name, served at `/api/apps/<name>/…`. Reads require the viewer role, everything else
   * operator.
   */
  readonly apps?: HttpApps
  /**
   * Called before all other routes, for routes with their own authentication, such as webhooks. Return null
   * to let the API handle the request. Its responses bypass access control: no tokens and no limits, and
   * bodies are streamed.
   */
  readonly passthrough?: Passthrough
  /**
   * Keys whose values are hidden in the audit log, and from viewers in payloads, results, metadata, progress,
   * logs and the timeline (default `SECRET_KEYS`). An empty list hides nothing.
   */
  readonly redact?: readonly RegExp[]
  /** The maximum size of a request body (default 8 MiB). */
  readonly maxBodyBytes?: number
  /**
   * The maximum memory of all request bodies in progress: their bytes, plus 64 bytes for each value in them
   * (default 8 times `maxBodyBytes`). Beyond it, callers get 503.
   */
  readonly maxBodiesBytes?: number
  /** The maximum number of open event streams per caller in this process (default 100). */
  readonly streamsPerCaller?: number
  /** The maximum number of open event streams of all callers (default 1,000). */
  readonly maxStreams?: number
  /** Requests per second for each caller name, in this process (default 1,000). */
  readonly requestsPerSecond?: number
  /** Requests per second for each IP address of anonymous callers (default 20). */
  readonly anonymousPerSecond?: number
  /** Receives internal errors, whose details callers do not see (default standard error). */
  readonly onError?: (error: unknown, what: string) => void
  /** For tests: clocks, timers, random numbers and ids. */
  readonly platform?: Platform
}

/**
 * Refuses unknown options and wrong types, so that neither a typo nor a string such as 'false' opens the API.
 * `identityOf` checks the content of tokens.
 */
export function checkHttpOptions(options: HttpOptions, more: readonly string[] = []): void {
  checkObjectKeys(options, 'options', [...more, ...Object.keys(CHECKS)])
  for (const [field, check] of Object.entries(CHECKS)) {
    const value = options[field as keyof HttpOptions]
    if (value !== undefined) check(value, field)
  }
}

type Check = (value: unknown, field: string) => unknown

const count: Check = (value, field) => checkWhole(value, field, { least: 1, most: Number.MAX_SAFE_INTEGER })

const CHECKS: Readonly<Record<keyof HttpOptions, Check>> = {
  tokens: (value, field) => checkText(value, field, 'Pass text with one "name role token" per line'),
  authenticate: (value, field) =>
    checkFunction(value, field, 'Pass a function that takes a Request and returns { name, role } or null'),
  insecure: checkBoolean,
  basePath: checkBasePath,
  page: checkBoolean,
  frameAncestors: checkFrameAncestors,
  apps: (value) => checkApps(value as HttpApps),
  passthrough: (value, field) => checkFunction(value, field, ROUTES_FIX),
  redact: checkPatterns,
  maxBodyBytes: count,
  maxBodiesBytes: count,
  streamsPerCaller: count,
  maxStreams: count,
  requestsPerSecond: count,
  anonymousPerSecond: count,
  onError: checkOnError,
  platform: checkPlatform,
}

export function checkOnError(value: unknown, field: string): void {
  checkFunction(value, field, 'Pass a function that takes an error and the name of the failed step')
}

function checkPatterns(value: unknown, field: string): void {
  const wrong = checkArray(value, field).find((pattern) => !(pattern instanceof RegExp))
  if (wrong === undefined && !(value as unknown[]).includes(undefined)) return
  throw new JobmillError('OPTION_INVALID', 'must contain only regular expressions', {
    field,
    value: quote(wrong),
    fix: 'Pass patterns of keys, such as [...SECRET_KEYS, /ssn/i]',
  })
}

/** docs/reference/options.md shows these numbers. */
export const HTTP_DEFAULTS = Object.freeze({
  port: 8_787,
  bind: '127.0.0.1',
  maxBodyBytes: 8 * 1_024 * 1_024,
  /** How many bodies of the maximum size are allowed at once. */
  maxBodies: 8,
  streamsPerCaller: 100,
  maxStreams: 1_000,
  requestsPerSecond: 1_000,
  anonymousPerSecond: 20,
})

export type Settings = ReturnType<typeof settingsOf>

/** The options with their defaults. */
export function settingsOf(options: HttpOptions) {
  const settings = { ...HTTP_DEFAULTS, ...omitUndefined(options) }
  const { maxBodyBytes, maxBodiesBytes = settings.maxBodies * maxBodyBytes } = settings
  if (maxBodiesBytes < maxBodyBytes)
    throw new JobmillError('OPTION_CONFLICT', `is lower than maxBodyBytes (${maxBodyBytes})`, {
      field: 'maxBodiesBytes',
      value: quote(maxBodiesBytes),
      fix: 'Raise it to maxBodyBytes or more, or omit it',
    })
  // Larger bodies have more values.
  const maxBodyValues = Math.floor(BOUNDS.bodyValues * Math.max(1, maxBodyBytes / HTTP_DEFAULTS.maxBodyBytes))
  return { ...settings, maxBodiesBytes, maxBodyValues }
}

export function toStandardError(error: unknown, what: string): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  writeOutput(process.stderr, `${safeLines(`jobmill error ${what}: ${text}`)}\n`)
}
