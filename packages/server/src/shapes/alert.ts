/** The schemas of alert rules. */
import { z } from '@hono/zod-openapi'
import type { AlertView } from 'jobmill'
import { duration } from './enqueue.ts'
import { aboutShape, checkShape } from './system.ts'

const ms = z.number()

export const alertShape = z
  .object({
    name: z.string(),
    checks: z
      .array(checkShape)
      .readonly()
      .nullable()
      .openapi({ description: 'null: the errors and warnings of every check' }),
    queue: z.string().nullable(),
    kind: z.string().nullable(),
    url: z
      .string()
      .openapi({ description: 'without user name, password and query; only admins see its path' }),
    secretHints: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'the last characters of each secret' }),
    forMs: ms,
    coolDownMs: ms,
    recovery: z.boolean(),
    paused: z.boolean(),
    inCode: z.boolean(),
    problems: z
      .array(
        z.object({
          check: z.string(),
          level: z.enum(['notice', 'warning', 'error']),
          about: aboutShape,
          message: z.string(),
          fix: z.string(),
          since: ms,
          sent: z.int(),
          sentAt: ms.nullable(),
        }),
      )
      .readonly()
      .openapi({ description: 'current problems of the rule, sent or not' }),
    lastSentAt: ms.nullable(),
  })
  .openapi('Alert') satisfies z.ZodType<AlertView>

export const alertChangeShape = z
  .strictObject({
    check: z
      .union([checkShape, z.array(checkShape)])
      .nullable()
      .optional(),
    queue: z.string().nullable().optional(),
    kind: z.string().nullable().optional(),
    url: z.string().optional(),
    secret: z.union([z.string(), z.array(z.string())]).optional(),
    for: duration.optional(),
    coolFor: duration.optional(),
    recovery: z.boolean().optional(),
    paused: z.boolean().optional(),
  })
  .openapi('AlertChange')
