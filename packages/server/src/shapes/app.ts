/** The schema of a mounted application. */
import { z } from '@hono/zod-openapi'

export const appShape = z
  .object({
    name: z.string().openapi({ description: 'name in its URLs' }),
    title: z.string().openapi({ description: 'title in the menu' }),
  })
  .openapi('App')
