/** The stack of the error a handler threw, including the stacks of its causes. */
import type { Ended } from '../job/decide.ts'
import { isJobmillError } from '../job/errors.ts'
import { storableText } from '../job/error-text.ts'

const MOST_CAUSES = 5
const LONGEST_CHARS = 16_384

/** Undefined without a stack, and for an interruption that the handler only rethrew. */
export function stackOf(ended: Ended): string | undefined {
  try {
    const thrown = thrownBy(ended)
    const stacks: string[] = []
    for (let error = thrown; error instanceof Error && stacks.length < MOST_CAUSES; error = error.cause) {
      if (isJobmillError(error) || typeof error.stack !== 'string') break
      stacks.push(error.stack)
    }
    return stacks.length === 0 ? undefined : storableText(stacks.join('\ncaused by: '), LONGEST_CHARS)
  } catch {
    // The thrown value can be anything, and reading it may throw.
    return undefined
  }
}

function thrownBy(ended: Ended): unknown {
  if (ended.how === 'failed-permanently') return ended.thrown
  if (ended.how === 'failed') return ended.error
  return ended.how === 'interrupted' && ended.error !== ended.by ? ended.error : undefined
}
