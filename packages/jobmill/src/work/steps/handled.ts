/** Prevents unhandled rejections of steps. */
import type { Step } from '../../job/step/step.ts'

/**
 * A step that its handler does not await must not end the process with an unhandled rejection. A caller that
 * awaits it still gets the error.
 */
export function handled(step: Step): Step {
  const members = Object.entries(step) as [string, (...given: unknown[]) => Promise<unknown>][]
  const wrapped = members.map(([name, member]) => [
    name,
    (...given: unknown[]) => {
      const promise = member(...given)
      promise.catch(() => {})
      return promise
    },
  ])
  return Object.fromEntries(wrapped) as Step
}
