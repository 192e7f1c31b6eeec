/** An instant in the query of a request. */
import { z } from '@hono/zod-openapi'

export const instant = z
  .string()
  .optional()
  .transform((text) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : text))
  .openapi({ type: 'string', description: 'milliseconds since 1970, or ISO 8601 with a time zone' })
