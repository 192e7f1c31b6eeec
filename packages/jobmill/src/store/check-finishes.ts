/** What a store refuses of a finish before it writes anything: these are errors of the caller, not of the attempt. */
import { JobmillError } from '../job/errors.ts'
import { checkWhole } from '../job/numbers.ts'
import { BOUNDS } from '../job/defaults.ts'
import { isEnded } from '../job/state.ts'
import type { Finish } from './finish.ts'

export function checkFinishes(items: readonly Finish[]): void {
  for (const [index, { transition, outcome }] of items.entries()) {
    if (outcome === null && isEnded(transition.to)) {
      throw new JobmillError('OPTION_INVALID', `a job that goes to ${transition.to} needs an outcome`, {
        field: `items[${index}].outcome`,
        value: 'null',
        index,
        fix: 'Only a job that goes back to waiting may have none',
      })
    }
    if (transition.to === 'scheduled') {
      checkWhole(transition.delayMs, `items[${index}].transition.delayMs`, {
        least: 0,
        most: BOUNDS.durationMs,
      })
    }
  }
}
