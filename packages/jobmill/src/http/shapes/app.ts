/** An application behind the same door. */
import { z } from '@hono/zod-openapi'

export const appShape = z
  .object({
    name: z.string().openapi({ description: 'in its addresses' }),
    title: z.string().openapi({ description: 'for people' }),
  })
  .openapi('App')
