/** The schema of durable steps. */
import { z } from '@hono/zod-openapi'
import { STEP_KINDS } from 'jobmill/store'
import { instant } from './job.ts'

export const stepShape = z
  .object({
    name: z.string(),
    kind: z.enum(STEP_KINDS),
    place: z.int().openapi({ description: 'the position among the steps of the job, from 0' }),
    startedAt: instant,
    endedAt: instant.nullable().openapi({ description: 'null while the step runs or waits' }),
    dueAt: instant.nullable().openapi({ description: 'when a wait ends without an event' }),
    events: z.array(z.string()).readonly().openapi({ description: 'the events that the step waits for' }),
    result: z.unknown().openapi({ description: 'null if there is none, or if it exceeds largest' }),
    checkpoint: z.unknown().openapi({ description: 'null if there is none, or if it exceeds largest' }),
    children: z
      .array(
        z.object({
          id: z.uuid(),
          endedAs: z
            .enum(['done', 'dead', 'cancelled'])
            .nullable()
            .openapi({ description: 'null while it waits or runs' }),
          error: z.string().nullable(),
        }),
      )
      .readonly()
      .openapi({ description: 'the jobs that the step waits for; at most 1,000 of all steps' }),
    bytes: z.int().openapi({ description: 'size of result and checkpoint as JSON' }),
  })
  .openapi('Step')
