/** What a config can say, each with what is said of a value that cannot be used. */
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
          leastMs === 0 ? `${DURATION}; 0 is at once` : `${DURATION}, of at least ${leastMs / 1_000} s`,
      })
      return z.NEVER
    }
  })

const DURATION = "give a length of time in ms, s, m, h and d, such as '90s', '1h30m' or '24h'"
const SIZE = "give bytes, or a text such as '100MiB'"

const size = (least: number) =>
  z.union([z.number(), z.string()], { error: SIZE }).transform((value, context) => {
    const bytes = bytesOf(value)
    if (bytes !== null && bytes >= least) return bytes
    context.addIssue({ code: 'custom', message: least === 0 ? SIZE : `${SIZE}, more than 0` })
    return z.NEVER
  })

const whole = (least: number, most: number) =>
  z.coerce
    .number({ error: `give a whole number of ${least} to ${most}` })
    .int({ error: `give a whole number of ${least} to ${most}` })
    .min(least, { error: `give a whole number of ${least} to ${most}` })
    .max(most, { error: `give a whole number of ${least} to ${most}` })

const text = z.string({ error: 'give a text' }).min(1, { error: 'give a text that is not empty' })

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export const shape = z.strictObject({
  database: text.optional(),
  blobs: text.optional(),
  port: whole(0, 65_535).optional(),
  bind: text.optional(),
  adminPort: whole(0, 65_535).optional(),
  adminBind: text.optional(),
  tokens: text.optional(),
  logLevel: z.enum(LOG_LEVELS, { error: `give ${LOG_LEVELS.join(', ')}` }).optional(),
  maxFiles: whole(1, MOST_FILES).optional(),
  maxFileBytes: size(1).optional(),
  maxRequestBytes: size(1).optional(),
  quotaBytes: z.union([z.literal('none'), size(0)], { error: `${SIZE}, or none` }).optional(),
  quotaFiles: z
    .union([z.literal('none'), whole(0, 1e9)], { error: 'give a number of files, or none' })
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
  metricsByMailbox: z.stringbool({ error: 'say true or false' }).or(z.boolean()).optional(),
  job: z
    .strictObject(
      { kind: text, queue: text.optional() },
      { error: 'give kind, and queue where it is another' },
    )
    .optional(),
})

export type Config = z.infer<typeof shape>
export const NAMES = Object.keys(shape.shape) as (keyof Config)[]
