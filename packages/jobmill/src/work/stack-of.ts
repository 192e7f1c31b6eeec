/**
 * The stack of the error a handler threw, including the stacks of its causes and of the first errors of an
 * AggregateError, whose own stack has no frame of the application (`Promise.any`). The frames of Jobmill that
 * called the handler are left out: they are the same for every error.
 */
import type { Ended } from '../job/attempt/decide.ts'
import { isJobmillError } from '../job/errors.ts'
import { storableText } from '../job/text/error-text.ts'
import { FIRST_OWN_FRAME } from './inside-handler.ts'

const MOST_CAUSES = 5
const MOST_ERRORS = 3
const LONGEST_CHARS = 16_384

/** Undefined without a stack, and for an interruption that the handler only rethrew. */
export function stackOf(ended: Ended): string | undefined {
  try {
    const stacks: string[] = []
    collect(thrownBy(ended), stacks)
    return stacks.length === 0 ? undefined : storableText(stacks.join('\ncaused by: '), LONGEST_CHARS)
  } catch {
    // The thrown value can be anything, and reading it may throw.
    return undefined
  }
}

function collect(thrown: unknown, stacks: string[]): void {
  for (let error = thrown; error instanceof Error && stacks.length < MOST_CAUSES; error = error.cause) {
    if (isJobmillError(error) || typeof error.stack !== 'string') break
    stacks.push(callerRemoved(error.stack))
    if (!(error instanceof AggregateError) || !Array.isArray(error.errors)) continue
    for (const one of error.errors.slice(0, MOST_ERRORS)) collect(one, stacks)
  }
}

/** Unchanged if no frame of the application would be left. */
function callerRemoved(stack: string): string {
  const at = stack.search(FIRST_OWN_FRAME)
  const own = at === -1 ? stack : stack.slice(0, at)
  return /^\s+at /m.test(own) ? own : stack
}

function thrownBy(ended: Ended): unknown {
  if (ended.how === 'failed-permanently') return ended.thrown
  if (ended.how === 'failed') return ended.error
  return ended.how === 'interrupted' && ended.error !== ended.by ? ended.error : undefined
}
