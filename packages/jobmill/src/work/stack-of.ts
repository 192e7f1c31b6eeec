/** Where a handler failed: the stack of what it threw, with those of its causes. */
import type { Ended } from '../job/decide.ts'
import { isJobmillError } from '../job/errors.ts'
import { storableText } from '../job/error-text.ts'

const MOST_CAUSES = 5
const LONGEST_CHARS = 16_384

/** Undefined where there is none, and for an interruption that the handler only passed on. */
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
    // What was thrown comes from anywhere, and reading it may throw.
    return undefined
  }
}

function thrownBy(ended: Ended): unknown {
  if (ended.how === 'failed-permanently') return ended.thrown
  if (ended.how === 'failed') return ended.error
  return ended.how === 'interrupted' && ended.error !== ended.by ? ended.error : undefined
}
