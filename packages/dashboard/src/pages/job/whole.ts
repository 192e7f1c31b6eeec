/**
 * Loads a value that was too large to include. It is not refreshed: it may be megabytes, and a payload never
 * changes.
 */
import { ask, encodeName, Problem } from '../../api/client.ts'
import type { Inspected, Job } from '../../api/types.ts'
import { sayProblem } from '../../kit/overlays/toasts.tsx'

export async function wholeOf(id: string, field: 'payload' | 'result'): Promise<unknown> {
  return (await ask<Inspected>(`jobs/${encodeName(id)}`)).job[field]
}

export async function wholePayload(job: Job, left: Inspected['left']): Promise<unknown> {
  return left.payload === undefined ? job.payload : wholeOf(job.id, 'payload')
}

export async function sayIfProblem(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    sayProblem(error)
  }
}
