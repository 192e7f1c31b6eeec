/** What the checks of arguments share: see checked-arguments.ts. */
import { BOUNDS, checkId, JobmillError } from 'jobmill/store'

export const DURATION = { least: 0, most: BOUNDS.durationMs }
export const COUNT = { least: 0, most: Number.MAX_SAFE_INTEGER }
/** Stored keys include their scope and the name of a queue or kind. */
export const MOST_KEY_CHARS = 2 * BOUNDS.keyChars

export type Checks<Part> = {
  readonly [Verb in keyof Part]?: Part[Verb] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never
}

/** Ids are compared as text, so a store gets them in lower case. */
export function ids(all: readonly string[]): void {
  for (const id of all)
    if (checkId(id, 'id') !== id) throw new JobmillError('ID_INVALID', 'must be in lower case', { value: id })
}
