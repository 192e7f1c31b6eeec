/** The schema of duties. */
import { z } from '@hono/zod-openapi'
import type { DutyView } from 'jobmill/internal'

export const dutyShape = z
  .object({
    name: z.string(),
    leader: z.uuid().nullable(),
    lastSuccessAt: z.number().nullable(),
    failures: z.int(),
  })
  .openapi('Duty')

/** Omits what only the answering process knows. */
export function dutyOf({ name, leader, lastSuccessAt, failures }: DutyView): z.infer<typeof dutyShape> {
  return { name, leader, lastSuccessAt, failures }
}
