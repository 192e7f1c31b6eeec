/** The settings of a config and their error messages. */
import * as z from 'zod'
import { MOST_FILES } from '../inbox/limits.ts'
import { durationMs } from '../options.ts'
import { bytesOf } from './sizes.ts'

const duration = (leastMs: number) =>
  z.union([z.number(), z.string()], { error: DURATION }).transform((value, context) => {
    try {
      return durationMs(value, 'it', leastMs)
    } catch {
      context.addIssue({
        code: 'custom',
        message:
          leastMs === 0
            ? `${DURATION}; 0 means immediately`
            : `${DURATION}, of at least ${leastMs / 1_000} s`,
      })
      return z.NEVER
    }
  })

const DURATION = "must be a duration in ms, s, m, h and d, such as '90s', '1h30m' or '24h'"
const SIZE = "must be a number of bytes or a size such as '100MiB'"

const size = (least: number) =>
  z.union([z.number(), z.string()], { error: SIZE }).transform((value, context) => {
    const bytes = bytesOf(value)
    if (bytes !== null && bytes >= least) return bytes
    context.addIssue({ code: 'custom', message: least === 0 ? SIZE : `${SIZE}, greater than 0` })
    return z.NEVER
  })

const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error })
}

const text = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' })

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export const shape = z.strictObject({
  database: text.optional(),
  blobs: text.optional(),
  port: whole(0, 65_535).optional(),
  bind: text.optional(),
  adminPort: whole(0, 65_535).optional(),
  adminBind: text.optional(),
  tokens: text.optional(),
  logLevel: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).optional(),
  maxFiles: whole(1, MOST_FILES).optional(),
  maxFileBytes: size(1).optional(),
  maxRequestBytes: size(1).optional(),
  quotaBytes: z.union([z.literal('none'), size(0)], { error: `${SIZE}, or none` }).optional(),
  quotaFiles: z
    .union([z.literal('none'), whole(0, 1e9)], { error: 'must be a number of files, or none' })
    .optional(),
  uploadsAtOnce: whole(1, 100_000).optional(),
  uploadsPerMailbox: whole(1, 100_000).optional(),
  listenersAtOnce: whole(1, 100_000).optional(),
  listenersPerMailbox: whole(1, 100_000).optional(),
  expireAfter: duration(1_000).optional(),
  ackRetention: duration(0).optional(),
  stagingFor: duration(1_000).optional(),
  keysFor: duration(0).optional(),
  sweepEvery: duration(1_000).optional(),
  metricsByMailbox: z.stringbool({ error: 'must be true or false' }).or(z.boolean()).optional(),
  job: z
    .strictObject(
      { kind: text, queue: text.exactOptional() },
      { error: 'must have kind, and optionally queue' },
    )
    .optional(),
})

export type Config = z.infer<typeof shape>
/** The environment and the command line have their values as text. */
export const WHOLE_NUMBERS: ReadonlySet<string> = new Set<keyof Config>([
  'port',
  'adminPort',
  'maxFiles',
  'quotaFiles',
  'uploadsAtOnce',
  'uploadsPerMailbox',
  'listenersAtOnce',
  'listenersPerMailbox',
])
export const NAMES = Object.keys(shape.shape) as (keyof Config)[]

export interface ConfigProblem {
  /** A place such as `jobmill-uploads.yaml:3 quotaBytes`, or the name of a variable. */
  readonly place: string
  readonly message: string
}

export interface ReadConfig {
  readonly config: Config
  /** Where a value comes from: an option, a variable or a line of the file; null for a default. */
  readonly placeOf: (name: keyof Config) => string | null
}
