/** What `step.child` and `step.children` throw when a child is dead or cancelled. */
import { quote } from '../errors.ts'
import type { EndedState } from '../state.ts'
import { Dead } from '../attempt/thrown.ts'

export interface FailedChild {
  readonly id: string
  readonly endedAs: EndedState | null
  readonly error: string | null
}

/** How many failed children the message names. */
const NAMED = 3

/**
 * Another attempt would find the same children, so the parent is dead at once unless its handler catches this
 * error. Retry the children first, then the parent: it waits for them again.
 */
export class ChildFailed extends Dead {
  readonly code = 'CHILD_FAILED'
  readonly step: string
  /** The children that did not end as done. */
  readonly children: readonly FailedChild[]

  constructor(step: string, failed: readonly FailedChild[], of: number) {
    const named = failed
      .slice(0, NAMED)
      .map(({ id, endedAs, error }) => `${id} is ${endedAs}: ${error ?? ''}`)
    const more = failed.length > NAMED ? `, and ${failed.length - NAMED} more` : ''
    const count = of === 1 ? 'the child' : `${failed.length} of the ${of} children`
    super(`${count} of step ${quote(step)} failed: ${named.join('; ')}${more}`)
    this.name = 'ChildFailed'
    this.step = step
    this.children = failed.map(({ id, endedAs, error }) => ({ id, endedAs, error }))
  }
}
