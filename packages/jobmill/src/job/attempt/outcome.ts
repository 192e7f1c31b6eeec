/** How an attempt ended. Stored with the attempt; the transition says what happens to the job next. */

export const OUTCOMES = [
  'returned',
  'failed',
  'timed-out',
  'snoozed',
  'throttled',
  'failed-permanently',
  'cancelled',
  'interrupted',
  'parked',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Stored in rows: never renumber. */
export function outcomeCode(outcome: Outcome): number {
  return OUTCOMES.indexOf(outcome)
}

export function outcomeOfCode(code: number): Outcome {
  const outcome = OUTCOMES[code]
  if (outcome === undefined) throw new RangeError(`no outcome has the code ${code}`)
  return outcome
}
